import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PortView } from "../../controller/api/views.ts";
import { dumpFlows } from "../../src/lab/verify/dump.ts";
import { arpRequest, experimentFrame } from "../../src/lab/verify/frames.ts";
import { onWire } from "../../src/lab/verify/wire.ts";
import { eventually, lbctl, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";
import { python } from "../support/python.ts";

const original = new URL("./cases-topology.yaml", import.meta.url).pathname;
const LIMIT = 8;
const FLOOD = 60;
const EVERYBODY = "ff:ff:ff:ff:ff:ff";

/** Sends frames, given as hex words, as a machine does: through the kernel's socket for whole frames. */
const SEND = `
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
for frame in sys.argv[1:]:
    s.send(bytes.fromhex(frame))
`;

describeOvs("a port with more sources than may be learned, or with ours", () => {
  let node: NodeUnderTest;
  const folder = mkdtempSync(join(tmpdir(), "oflb-flood-"));

  beforeAll(async () => {
    const config = join(folder, "topology.yaml");
    const text = readFileSync(original, "utf8");
    const limited = text.replace("probe: 10.20.0.253", `probe: 10.20.0.253\n    learn_limit: ${LIMIT}`);
    expect(limited).not.toBe(text);
    writeFileSync(config, limited);
    node = await startNode("tflood", { config });
  });
  afterAll(async () => {
    await node?.end();
    rmSync(folder, { recursive: true });
  });

  const send = (host: "be1" | "be3" | "cli2", frames: readonly Uint8Array[]) =>
    node.lab.exec(host, [python.path, "-c", SEND, ...frames.map((f) => Buffer.from(f).toString("hex"))]);
  const macOf = (i: number): string => `02:00:00:99:00:${i.toString(16).padStart(2, "0")}`;
  const macOfHost = (name: string): string => node.lab.hosts.find((h) => h.name === name)!.mac;
  const port = async (name: string): Promise<PortView> => {
    const found = (await node.api<readonly PortView[]>("/v1/ports")).find((p) => p.name === name);
    if (!found) throw new Error(`no port ${name}`);
    return found;
  };
  /** MACs that the switch has learned behind a port. */
  const learned = async (name: string): Promise<readonly string[]> => {
    const { ofport } = await port(name);
    const flows = await dumpFlows(node.lab, "table=25");
    return flows.filter((f) => f.actions === `output:${ofport}`).map((f) => /dl_dst=(\S+?)(,|$)/.exec(f.match)![1]!);
  };
  const metric = async (line: string): Promise<number> => {
    const text = await (await fetch(new URL("/metrics", node.daemon.web))).text();
    return Number(
      text
        .split("\n")
        .find((l) => l.startsWith(`${line} `))
        ?.split(" ")[1],
    );
  };

  test("learns up to the limit, counts the rest, and leaves other ports their room", async () => {
    await send(
      "be1",
      Array.from({ length: FLOOD }, (_, i) => experimentFrame(macOf(i), EVERYBODY)),
    );
    const behind = await eventually("the switch has learned", 5_000, async () => {
      const macs = await learned("be1");
      return macs.length >= LIMIT ? macs : undefined;
    });
    expect(behind).toHaveLength(LIMIT);
    const labels = 'node="lb1",segment="p2",port="be1",kind="mac"';
    // What be1 itself sends may have a place of its own, or not; so the count may go on growing.
    await eventually("the flood is counted, and alike everywhere", 25_000, async () => {
      const { macsNotLearned } = await port("be1");
      const exported = await metric(`oflb_sources_not_learned_total{${labels}}`);
      const shown = Number(/be1 .* (\d+)$/m.exec(await lbctl(node, "ports"))?.[1]);
      const isWhole = macsNotLearned !== null && macsNotLearned >= FLOOD - LIMIT;
      return isWhole && exported === macsNotLearned && shown === macsNotLearned ? true : undefined;
    });
    expect((await port("be3")).macsNotLearned).toBe(0);
    expect(readFileSync(node.daemon.log, "utf8")).toMatch(/port be1 has more MAC addresses than may be learned/);

    await send("be3", [experimentFrame(macOf(200), EVERYBODY)]);
    await eventually("another port learns", 5_000, async () =>
      (await learned("be3")).includes(macOf(200)) ? true : undefined,
    );
    expect((await node.lab.curl("cli2", "http://10.20.0.100/", 8)).filter((a) => !a.ok)).toEqual([]);
  });

  test("follows a MAC that moves to another port at once", async () => {
    await send("be3", [experimentFrame(macOf(201), EVERYBODY)]);
    await eventually("it is learned", 5_000, async () =>
      (await learned("be3")).includes(macOf(201)) ? true : undefined,
    );
    await send("cli2", [experimentFrame(macOf(201), EVERYBODY)]);
    await eventually("it is followed", 5_000, async () =>
      (await learned("cli2")).includes(macOf(201)) ? true : undefined,
    );
    expect(await learned("be3")).not.toContain(macOf(201));
  });

  test("counts claims of our addresses where they come from, and does not believe them", async () => {
    const mac = macOfHost("be3");
    const claims = ["10.20.0.1", "10.20.0.100", "10.20.0.253"].map((ip) => arpRequest(mac, ip, "10.20.0.10"));
    await send("be3", claims);
    const view = await eventually("the claims are counted", 25_000, async () => {
      const be3 = await port("be3");
      return (be3.claims ?? 0) >= claims.length ? be3 : undefined;
    });
    expect(view.claims).toBe(claims.length);
    expect((await port("cli2")).claims).toBe(0);
    const labels = 'node="lb1",segment="p2",port="be3"';
    expect(await metric(`oflb_address_conflicts_total{${labels}}`)).toBe(claims.length);
    expect(readFileSync(node.daemon.log, "utf8")).toMatch(/port be3: \S+ claims 10\.20\.0\.1, which is ours/);
    await node.lab.exec("cli2", ["ip", "neigh", "flush", "all"]);
    const answers = await node.lab.curl("cli2", "http://10.20.0.100/", 8);
    expect(answers.filter((a) => !a.ok)).toEqual([]);
    const neighbours = await node.lab.exec("cli2", ["ip", "neigh", "show", "10.20.0.100"]);
    expect(neighbours).toContain("02:42:0a:14:00:01");
  });

  test("answers for its addresses once each time and alike, while a neighbour has one of them and the pipeline is looked at", async () => {
    const { lab } = node;
    const [gatewayMac, cli2, be3] = ["02:42:0a:14:00:01", macOfHost("cli2"), macOfHost("be3")] as const;
    await lab.exec("be3", ["ip", "addr", "add", "10.20.0.100/32", "dev", "eth0"]);
    const asked = ["10.20.0.1", "10.20.0.100", "10.20.0.253"];
    const questions = asked.flatMap((ip) => [
      arpRequest(cli2, "10.20.0.10", ip),
      arpRequest(cli2, "10.20.0.10", ip, gatewayMac),
    ]);
    const { wire } = await onWire(
      lab,
      ["cli2", "be3"],
      async () => {
        for (let i = 0; i < 17; i++) {
          await send("cli2", questions);
          // be3 says that the VIP is its own, to everybody and to the one that asks.
          if (i % 4 === 0) await send("be3", [arpRequest(be3, "10.20.0.100", "10.20.0.100")]);
          if (i % 4 === 2) node.daemon.reload();
        }
      },
      { filter: "arp" },
    );
    for (const ip of asked) {
      const answers = wire("cli2").filter((f) => f.arpOp === 2 && f.arpSpa === ip);
      expect(answers).toHaveLength(34);
      expect(new Set(answers.map((f) => `${f.ethSrc} ${f.arpSha}`))).toEqual(new Set([`${gatewayMac} ${gatewayMac}`]));
    }
    expect(wire("be3").filter((f) => f.arpOp === 1 && f.arpSha === cli2 && asked.includes(f.arpTpa ?? ""))).toEqual([]);
    await lab.exec("be3", ["ip", "addr", "del", "10.20.0.100/32", "dev", "eth0"]);
  });
});
