import { defineConfig } from "vitest/config";

const root = new URL("..", import.meta.url).pathname;

/**
 * Four projects: `unit` needs nothing but Node; `ovs` needs root and Open vSwitch, starts its own private
 * switch and therefore runs one file at a time; `client` drives the daemon with the real `openstack` client; `octavia` needs the
 * real Octavia.
 */
export default defineConfig({
  root,
  test: {
    projects: [
      {
        root,
        test: {
          name: "unit",
          include: ["test/{openflow,pipeline,controller,src,docker}/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
      {
        root,
        test: {
          name: "ovs",
          include: ["test/ovs/**/*.test.ts"],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        root,
        test: {
          name: "client",
          include: ["test/client/**/*.test.ts"],
          testTimeout: 120_000,
        },
      },
      {
        root,
        test: {
          name: "octavia",
          include: ["test/octavia/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
