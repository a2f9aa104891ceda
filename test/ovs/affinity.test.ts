import { afterAll, beforeAll, expect, test } from "vitest";
import { monitor } from "../../src/lab/balancer.ts";
import type { HostName } from "../../src/lab/topology.ts";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { octaviaClient } from "../support/octavia-client.ts";
import { describeOvs } from "../support/ovs.ts";

const CLIENTS = [
  ["client", "192.168.5.21"],
  ["cli2", "10.20.0.100"],
  ["cli3", "10.30.0.100"],
] as const satisfies readonly (readonly [HostName, string])[];

describeOvs("a pool with session persistence by the client's address", () => {
  let node: NodeUnderTest;
  const { request, find } = octaviaClient(() => node);

  beforeAll(async () => {
    node = await startNode("taff");
    const { id } = await find("pools");
    await request("PUT", `pools/${id}`, { pool: { session_persistence: { type: "SOURCE_IP" } } });
    await eventually("each client has one member", 10_000, async () => {
      for (const [client, vip] of CLIENTS) if ((await met(client, vip)).size !== 1) return undefined;
      return true;
    });
  });
  afterAll(async () => node?.end());

  /** Who answers new connections, each from another port. */
  const met = async (client: HostName, vip: string): Promise<ReadonlySet<string>> => {
    const answers = await node.lab.curl(client, `http://${vip}/`, 12, { maxTime: 1 });
    return new Set(answers.map((a) => (a.ok ? a.backend : "nobody")));
  };
  const only = async (client: HostName, vip: string): Promise<string> => {
    const all = await met(client, vip);
    expect(all.size).toBe(1);
    return [...all][0]!;
  };
  const until = (what: string, wanted: (names: ReadonlySet<string>) => boolean) =>
    eventually(what, (monitor.delay * monitor.max_retries_down + 4) * 1000, async () => {
      const names = await met("client", "192.168.5.21");
      return names.size === 1 && !names.has("nobody") && wanted(names) ? [...names][0] : undefined;
    });

  test("gives a client another member when its own fails, keeps it there, and gives the first one back", async () => {
    const own = await only("client", "192.168.5.21");
    const { lab } = node;
    await lab.backend(own as HostName).kill();
    const other = await until(`somebody else than ${own}`, (names) => !names.has(own));
    for (let i = 0; i < 3; i++) expect(await only("client", "192.168.5.21")).toBe(other);
    await lab.backend(own as HostName).start();
    expect(await until(`${own} again`, (names) => names.has(own))).toBe(own);
  });

  test("gives new connections another member while its own is drained, and leaves open ones alone", async () => {
    const own = await only("client", "192.168.5.21");
    const post = (how: string) =>
      fetch(new URL(`/v1/members/${own}/${how}`, node.daemon.web), { method: "POST" }).then((r) =>
        expect(r.ok).toBe(true),
      );
    // Answered after the drain, on a connection from before.
    const open = node.lab.curl("client", "http://192.168.5.21/slow?ms=3000", 1, { maxTime: 10 });
    await eventually("the connection is open", 3_000, async () =>
      (await node.lab.exec(own as HostName, ["ss", "-Htn", "state", "established"])).includes("192.168.5.13")
        ? true
        : undefined,
    );
    await post("drain");
    await until(`somebody else than ${own}`, (names) => !names.has(own));
    expect(await open).toMatchObject([{ ok: true, backend: own }]);
    await post("enable");
    await until(`${own} again`, (names) => names.has(own));
  });

  test("keeps a client on its member when the controller is restarted", async () => {
    const before = await Promise.all(CLIENTS.map(([client, vip]) => only(client, vip)));
    await node.restartController();
    for (let i = 0; i < 3; i++) {
      expect(await Promise.all(CLIENTS.map(([client, vip]) => only(client, vip)))).toEqual(before);
    }
  });
});
