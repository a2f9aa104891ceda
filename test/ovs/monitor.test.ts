import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HealthView } from "../../controller/api/views.ts";
import { patience } from "../../src/lab/patience.ts";
import { onWire, tcp } from "../../src/lab/verify/wire.ts";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { octaviaClient } from "../support/octavia-client.ts";
import { describeOvs } from "../support/ovs.ts";

const MEMBERS = ["be1", "be2", "be3", "be4"] as const;

/** Probes as members see them, by options of the API. */
describeOvs("HTTP health monitors", () => {
  let node: NodeUnderTest;
  let monitor: string;
  let members: string;
  const { request, find } = octaviaClient(() => node);

  beforeAll(async () => {
    node = await startNode("tmon");
    monitor = `healthmonitors/${(await find("healthmonitors")).id}`;
    members = `pools/${(await find("pools")).id}/members`;
    await change({ delay: 1, timeout: 1, max_retries: 1, max_retries_down: 1 });
  });
  afterAll(async () => node?.end());

  const change = (fields: object) => request("PUT", monitor, { healthmonitor: fields });
  const changeMember = async (name: string, fields: object) =>
    request("PUT", `${members}/${(await find(members, name)).id}`, { member: fields });
  const health = async () => {
    const [pool] = await node.api<readonly HealthView[]>("/v1/health");
    return Object.fromEntries(pool!.members.map((m) => [m.name, [m.state, m.nodes[0]?.reason]]));
  };
  const becomes = (wanted: Record<string, unknown>) =>
    eventually(`health ${JSON.stringify(wanted)}`, 10_000, async () =>
      JSON.stringify(await health()) === JSON.stringify(wanted) ? true : undefined,
    );
  /** Request heads that each member gets from the prober in some seconds. */
  const heads = async (): Promise<Record<string, readonly string[]>> => {
    const { wire } = await onWire(node.lab, MEMBERS, () => sleep(patience(3_500)), {
      filter: "tcp and net 10.0.0.0/8",
    });
    const of = (name: (typeof MEMBERS)[number]) =>
      wire(name).flatMap((f) => {
        const text = Buffer.from(f.bytes).toString("latin1");
        const from = text.search(/(GET|HEAD|OPTIONS) \//);
        return f.ipSrc?.endsWith(".253") && from > 0 ? [text.slice(from).trimEnd()] : [];
      });
    return Object.fromEntries(MEMBERS.map((name) => [name, [...new Set(of(name))]]));
  };
  const hosts = (head: string | undefined) => head?.split("\r\n").filter((line) => /^host:/i.test(line));

  test("ask with one Host: the domain name, else the member's address and port; with HTTP 1.0 none", async () => {
    await change({ http_version: 1.1, domain_name: "shop.example", url_path: "/up?x=1" });
    await sleep(patience(1_500));
    for (const seen of Object.values(await heads())) {
      expect(seen).toHaveLength(1);
      expect(seen[0]).toMatch(/^GET \/up\?x=1 HTTP\/1\.1\r\n/);
      expect(hosts(seen[0])).toEqual(["Host: shop.example"]);
    }
    await change({ domain_name: null });
    await sleep(patience(1_500));
    const plain = await heads();
    expect(MEMBERS.map((name) => plain[name]?.map(hosts))).toEqual([
      [["Host: 10.20.0.2:8080"]],
      [["Host: 10.30.0.2:8080"]],
      [["Host: 10.20.0.3:8080"]],
      [["Host: 10.30.0.3:8080"]],
    ]);
    await change({ http_version: 1.0 });
    await sleep(patience(1_500));
    for (const seen of Object.values(await heads())) {
      expect(seen).toHaveLength(1);
      expect(seen[0]).toMatch(/^GET \/up\?x=1 HTTP\/1\.0\r\n/);
      expect(hosts(seen[0])).toEqual([]);
    }
  });

  test("take the codes that are listed for success, and no other", async () => {
    const status = { be1: 200, be2: 204, be3: 401, be4: 404 };
    for (const [name, code] of Object.entries(status))
      node.lab.backend(name as keyof typeof status).behave({ status: code });
    for (const [codes, text, up] of [
      ["200", "200", ["be1"]],
      ["200, 204", "200,204", ["be1", "be2"]],
      ["200-204", "200-204", ["be1", "be2"]],
      ["401", "401", ["be3"]],
      ["400-499", "400-499", ["be3", "be4"]],
    ] as const) {
      await change({ expected_codes: codes });
      await becomes(
        Object.fromEntries(
          Object.entries(status).map(([name, code]) => [
            name,
            (up as readonly string[]).includes(name)
              ? ["up", `status ${code}`]
              : ["down", `status ${code} not in ${text}`],
          ]),
        ),
      );
    }
    for (const name of MEMBERS) node.lab.backend(name).behave({});
    await change({ expected_codes: "200" });
    await becomes(Object.fromEntries(MEMBERS.map((name) => [name, ["up", "status 200"]])));
  });

  test("go to the monitor's address and port, in another segment too; traffic goes to the member's", async () => {
    await changeMember("be1", { monitor_address: "10.30.0.2", monitor_port: 8080 });
    await changeMember("be3", { monitor_port: 8081 });
    await becomes({
      be1: ["up", "status 200"],
      be2: ["up", "status 200"],
      be3: ["down", "connection refused"],
      be4: ["up", "status 200"],
    });
    const { wire, result } = await onWire(
      node.lab,
      MEMBERS,
      async () => {
        await sleep(patience(3_500));
        return node.lab.curl("client", "http://192.168.5.21/", 24);
      },
      { filter: "tcp" },
    );
    expect(result.filter((a) => !a.ok)).toEqual([]);
    expect(new Set(result.map((a) => `${a.backend} ${a.served}`))).toEqual(
      new Set(["be1 10.20.0.2:8080", "be2 10.30.0.2:8080", "be4 10.30.0.3:8080"]),
    );
    const probed = (name: (typeof MEMBERS)[number]) =>
      wire(name).filter((f) => f.ipSrc?.endsWith(".253") && f.tcpFlags === tcp.syn);
    expect(probed("be1")).toEqual([]);
    expect(new Set(probed("be3").map((f) => f.tcpDst))).toEqual(new Set([8081]));
    // For itself and for be1.
    const ratio = probed("be2").length / probed("be4").length;
    expect(ratio).toBeGreaterThan(1.4);
    expect(ratio).toBeLessThan(3);
    await changeMember("be1", { monitor_address: null, monitor_port: null });
    await changeMember("be3", { monitor_port: null });
    await becomes(Object.fromEntries(MEMBERS.map((name) => [name, ["up", "status 200"]])));
  });
});
