import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DrainFile, withDrains } from "../../src/drains.ts";
import { findMember } from "../../src/health-views.ts";
import { seedState } from "../support/topology.ts";

const topology = seedState(64);
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openflow-lb-drains-"));
  path = join(folder, "drains.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const drained = (file: DrainFile) =>
  withDrains(topology, file.drains)
    .loadBalancers[0]!.pools[0]!.members.filter((m) => m.drain)
    .map((m) => m.name);

describe("the file of drained members", () => {
  test("outlives the process, and leaves nothing else in the folder", () => {
    const first = new DrainFile(path);
    expect(drained(first)).toEqual([]);
    first.set("member-1", true, topology);
    first.set("member-3", true, topology);
    expect(drained(first)).toEqual(["be1", "be3"]);
    const second = new DrainFile(path);
    expect(drained(second)).toEqual(["be1", "be3"]);
    second.set("member-1", false, topology);
    expect(drained(new DrainFile(path))).toEqual(["be3"]);
    expect(readdirSync(folder)).toEqual(["drains.json"]);
  });

  test("holds only what differs from the topology file, and only members that are there", () => {
    const file = new DrainFile(path);
    file.set("member-1", true, topology);
    file.set("nobody", true, topology);
    expect([...file.drains]).toEqual([["member-1", true]]);
    file.set("member-1", false, topology);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ version: 1, members: {} });
  });

  test("enables what the topology file drains", () => {
    const asDrained = withDrains(topology, new Map([["member-2", true]]));
    const file = new DrainFile(path);
    file.set("member-2", false, asDrained);
    expect([...file.drains]).toEqual([["member-2", false]]);
    expect(withDrains(asDrained, file.drains).loadBalancers[0]!.pools[0]!.members.some((m) => m.drain)).toBe(false);
  });

  test.each(["", "{", "[]", "null", '{"version":2,"members":{}}', '{"version":1,"members":{"a":"yes"}}'])(
    "damaged as %j, it is refused and not overwritten",
    (text) => {
      writeFileSync(path, text);
      expect(() => new DrainFile(path)).toThrow(/drains\.json cannot be read/);
      expect(readFileSync(path, "utf8")).toBe(text);
    },
  );

  test("a folder that is gone fails, and changes nothing", () => {
    const file = new DrainFile(path);
    file.set("member-1", true, topology);
    rmSync(folder, { recursive: true });
    expect(() => file.set("member-2", true, topology)).toThrow("ENOENT");
    expect(drained(file)).toEqual(["be1"]);
  });
});

describe("which member is meant", () => {
  const twoPools = {
    ...topology,
    loadBalancers: topology.loadBalancers.map((lb) => {
      const [pool] = lb.pools;
      const other = {
        ...pool!,
        id: 2,
        name: "api",
        members: pool!.members.map((m) => ({ ...m, id: m.id + 10, uuid: `api-${m.id}` })),
      };
      return { ...lb, pools: [pool!, other] };
    }),
  };
  test("by uuid, id, name, or pool and name", () => {
    expect(["member-2", "be2", "2", "web/be2"].map((t) => findMember(topology, t).id)).toEqual([2, 2, 2, 2]);
    expect(["api/be2", "12", "api-2"].map((t) => findMember(twoPools, t).id)).toEqual([12, 12, 12]);
  });
  test("a name that several have is refused with what to say instead; an unknown one as well", () => {
    expect(() => findMember(twoPools, "be2")).toThrow('"be2" may be web/be2 (id 2) or api/be2 (id 12)');
    expect(() => findMember(topology, "be9")).toThrow('there is no member "be9"');
  });
});
