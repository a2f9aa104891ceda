import { defineConfig } from "vitest/config";

const root = new URL("../..", import.meta.url).pathname;

/**
 * The tests that run in the guest, on the kernel's datapath, compiled: only test files pass through vite there.
 */
export default defineConfig({
  root,
  test: {
    include: ["test/kernel/*.test.js", "test/ovs/{promises,fragments,hairpin}.test.js"],
    server: { deps: { external: [/\/\.guest\//] } },
    fileParallelism: false,
    maxWorkers: 1,
    testTimeout: 2_000_000,
    hookTimeout: 1_200_000,
    reporters: ["verbose", "json"],
    outputFile: { json: "/out/report.json" },
  },
});
