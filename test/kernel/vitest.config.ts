import { defineConfig } from "vitest/config";

const root = new URL("../..", import.meta.url).pathname;

/**
 * The tests that run in the guest, on the kernel's datapath, from dist/: there the compiler's work is done already,
 * and only test files pass through vite.
 */
export default defineConfig({
  root,
  test: {
    include: ["test/kernel/*.test.js", "test/ovs/main-job.test.js"],
    server: { deps: { external: [/\/dist\//] } },
    fileParallelism: false,
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: ["verbose", "json"],
    outputFile: { json: "/out/report.json" },
  },
});
