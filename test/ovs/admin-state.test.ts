import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { type ApiObject, octaviaClient } from "../support/octavia-client.ts";
import { describeOvs } from "../support/ovs.ts";

const VIP = "192.168.5.21";

describeOvs("what is switched off", () => {
  let node: NodeUnderTest;
  /** Paths of one object of each kind, below the API's root. */
  let paths: Readonly<Record<"loadbalancer" | "listener" | "pool" | "member", string>>;

  const { request, find } = octaviaClient(() => node);
  const statusOf = async (kind: keyof typeof paths): Promise<string> =>
    ((await request("GET", paths[kind]))[kind] as ApiObject).operating_status;
  const set = (kind: keyof typeof paths, up: boolean) =>
    request("PUT", paths[kind], { [kind]: { admin_state_up: up } });

  beforeAll(async () => {
    node = await startNode("tadm");
    const pool = await find("pools");
    paths = {
      loadbalancer: `loadbalancers/${(await find("loadbalancers")).id}`,
      listener: `listeners/${(await find("listeners")).id}`,
      pool: `pools/${pool.id}`,
      member: `pools/${pool.id}/members/${(await find(`pools/${pool.id}/members`, "be1")).id}`,
    };
  });
  afterAll(async () => node?.end());

  /** Who answers `n` new connections. */
  const served = async (n: number): Promise<readonly (string | undefined)[]> => {
    const answers = await node.lab.curl("client", `http://${VIP}/`, n, { maxTime: 1 });
    return answers.map((a) => (a.ok ? a.backend : undefined));
  };
  const nobodyServes = () =>
    eventually("no new connection is served", 5_000, async () => ((await served(2)).some(Boolean) ? undefined : true));
  const allServe = () =>
    eventually("all members serve", 30_000, async () => (new Set(await served(40)).size === 4 ? true : undefined));

  test.each(["loadbalancer", "listener", "pool"] as const)(
    "a %s serves nobody and is OFFLINE; switched on it serves again, after a restart as well",
    async (kind) => {
      await set(kind, false);
      await set(kind, false);
      expect(await statusOf(kind)).toBe("OFFLINE");
      await nobodyServes();
      await node.restartController();
      expect(await statusOf(kind)).toBe("OFFLINE");
      expect((await served(3)).filter(Boolean)).toEqual([]);
      await set(kind, true);
      await set(kind, true);
      await allServe();
      await eventually("it is ONLINE", 10_000, async () => ((await statusOf(kind)) === "ONLINE" ? true : undefined));
    },
  );

  test("a member gets no new connections, and is probed before it gets some again", async () => {
    await set("member", false);
    expect(await statusOf("member")).toBe("OFFLINE");
    await eventually("be1 serves no more", 5_000, async () => ((await served(40)).includes("be1") ? undefined : true));
    expect(new Set(await served(40))).toEqual(new Set(["be2", "be3", "be4"]));
    await set("member", true);
    await allServe();
    expect(await statusOf("member")).toBe("ONLINE");
  });

  test("what is below stays off while something above is switched off and on", async () => {
    await set("listener", false);
    await set("loadbalancer", false);
    await nobodyServes();
    await set("loadbalancer", true);
    expect(await statusOf("listener")).toBe("OFFLINE");
    expect((await served(3)).filter(Boolean)).toEqual([]);
    await set("listener", true);
    await allServe();
  });
});
