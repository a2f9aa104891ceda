import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { readBalancers } from "../../../../src/cli/apply/server.ts";
import { yamlOf } from "../../../../src/cli/apply/write-yaml.ts";
import { newApi } from "../../../controller/octavia/api.ts";
import { apiOn, applyText, planOf } from "./server.ts";

const name = fc.constantFrom("a", "b", "c");
const maybe = <T>(key: string, value: fc.Arbitrary<T>) =>
  fc.option(value, { nil: undefined }).map((v) => (v === undefined ? {} : { [key]: v }));
const merged = (...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all));

const member = merged(
  fc.record({ name, ip: fc.constantFrom("10.20.0.10", "10.20.0.11", "10.20.0.12"), port: fc.constant(8080) }),
  maybe("weight", fc.integer({ min: 0, max: 3 })),
  maybe("backup", fc.boolean()),
  maybe("enabled", fc.boolean()),
  maybe("monitor_ip", fc.constantFrom("10.20.0.10", "10.20.0.13")),
  maybe("monitor_port", fc.constantFrom(8080, 8081)),
);

const monitor = fc.oneof(
  fc.record({
    type: fc.constant("tcp"),
    interval: fc.integer({ min: 2, max: 4 }),
    rise: fc.integer({ min: 1, max: 3 }),
  }),
  merged(
    fc.constant({ type: "http" }),
    maybe("path", fc.constantFrom("/", "/up")),
    maybe("version", fc.constant("1.0")),
  ),
);

const pool = merged(
  fc.record({
    name,
    members: fc
      .uniqueArray(member, { selector: (m) => m["name"], maxLength: 3 })
      .map((all) => all.filter((m, i) => all.findIndex((o) => o["ip"] === m["ip"]) === i)),
  }),
  maybe("algorithm", fc.constantFrom("consistent", "least-connections", "source-ip")),
  maybe("session_persistence", fc.constant("source-ip")),
  maybe("slots", fc.constantFrom(64, 1024)),
  maybe("health_monitor", monitor),
);

const listener = (pools: readonly string[]) =>
  merged(
    fc.record({ name, port: fc.constantFrom(80, 81, 82), pool: fc.constantFrom(undefined, ...pools) }),
    maybe("slot_choice", fc.constantFrom("bits", "multipath")),
    maybe("when_empty", fc.constantFrom("drop", "reject")),
    maybe("connection_limit", fc.constantFrom(1, 50)),
    maybe("idle_timeout", fc.constantFrom(30, 50)),
    maybe("vips", fc.constant(["192.0.2.30"])),
    maybe(
      "allowed_sources",
      fc.uniqueArray(fc.constantFrom("0.0.0.0/0", "192.0.2.0/24", "10.1.2.3/32"), { minLength: 1 }),
    ),
    maybe("enabled", fc.boolean()),
  );

const file = fc
  .tuple(fc.uniqueArray(pool, { selector: (p) => p["name"], maxLength: 3 }), fc.constantFrom("tcp", "udp"))
  .chain(([pools, protocol]) =>
    fc
      .uniqueArray(listener(pools.map((p) => String(p["name"]))), { selector: (l) => l["name"], maxLength: 3 })
      .map((all) => ({
        load_balancers: [
          {
            name: "shop",
            vips: [{ segment: "front", ip: "192.0.2.30" }],
            listeners: all
              .filter((l, i) => all.findIndex((o) => o["port"] === l["port"]) === i)
              .map((l) => ({ ...l, protocol })),
            pools,
          },
        ],
      })),
  )
  .map((data) => stringify(data));

test("after an apply the diff is empty, and what get writes is the same again", async () => {
  await fc.assert(
    fc.asyncProperty(file, file, async (before, after) => {
      const { api, writes } = apiOn((await newApi()).app);
      await applyText(api, before);
      expect(await planOf(api, before)).toEqual({ ok: true, changes: [] });
      await applyText(api, after, true);
      expect(await planOf(api, after, true)).toEqual({ ok: true, changes: [] });
      const text = yamlOf(await readBalancers(api, () => true));
      writes.length = 0;
      expect(await applyText(api, text, true)).toEqual([]);
      expect(writes).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
