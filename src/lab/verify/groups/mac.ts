import type { HostName } from "../../topology.ts";
import type { Bench, Group } from "../bench.ts";
import { adjacencyOf, dumpFlows } from "../dump.ts";
import { hostSpec } from "../facts.ts";
import { startLoad } from "../load.ts";
import { distinct, tcp } from "../wire.ts";

const silently = "02:00:00:14:00:99";
const aloud = "02:00:00:14:00:98";
const followMs = 10_000;

/** Next hops that change their MAC or move to another port. */
export const mac: Group = {
  name: "mac",
  about: "next hops that get another MAC address or another port number",
  async run(bench) {
    const { lab, facts } = bench;
    const be1 = hostSpec("be1");
    const adjacencyMac = async (host: HostName) => (await adjacencyOf(lab, host))?.mac;
    const follows = (mac: string) => bench.until(async () => (await adjacencyMac("be1")) === mac);
    const notify = (value: 0 | 1) =>
      lab.exec("be1", ["sh", "-c", `echo ${value} >/proc/sys/net/ipv4/conf/eth0/arp_notify`]);
    for (const member of facts.members) {
      const { mac, ofport } = (await adjacencyOf(lab, member.host)) ?? {};
      bench.same(
        `table 21 has ${member.host}'s own MAC and port`,
        `${member.mac} ${hostSpec(member.host).ofport}`,
        `${mac} ${ofport}`,
      );
    }
    bench.undo(() => follows(be1.mac));
    bench.undo(() => lab.setMac("be1", be1.mac));
    bench.undo(() => notify(0));

    // In this order: after a silent change probes have failed, and one more at the wrong moment takes the member out.
    await notify(1);
    await lab.setMac("be1", aloud);
    bench.within("a MAC that is announced when it changes is followed at once", 2000, await follows(aloud));
    await checkReached(bench, aloud);
    await notify(0);
    await lab.setMac("be1", silently);
    bench.within("one that changes without a word is found out", followMs, await follows(silently));
    await checkReached(bench, silently);
    bench.same(
      "the others' entries are as before",
      facts.members
        .filter(({ host }) => host !== "be1")
        .map((m) => m.mac)
        .sort()
        .join(" "),
      distinct(await Promise.all((["be2", "be3", "be4"] as const).map(adjacencyMac))),
    );
    await notify(1);
    await lab.setMac("be1", be1.mac);
    bench.within("and back to the first one", 2000, await follows(be1.mac));
    await bench.untilServing(facts.members.map(({ host }) => host));

    await checkPortNumber(bench);
  },
};

/** Requests reach be1 at this MAC, from a routed client and from a neighbour. */
async function checkReached(bench: Bench, mac: string): Promise<void> {
  const { lab, facts } = bench;
  const all = facts.members.map(({ host }) => host);
  await bench.untilServing(all);
  const { wire, result } = await bench.watch(
    ["be1"],
    async () => [
      ...(await lab.curl("client", `http://${facts.pub.vip}/`, 24)),
      ...(await lab.curl("cli2", `http://${facts.p2.vip}/`, 24)),
    ],
    "tcp",
  );
  const sources = ["192.168.5.13", "10.20.0.10"];
  const syns = wire("be1").filter((f) => f.tcpFlags === tcp.syn && sources.includes(f.ipSrc ?? ""));
  bench.same(
    `clients of both kinds reach be1 at ${mac}`,
    `${sources
      .map((s) => `${s} > ${mac}`)
      .sort()
      .join(" ")}`,
    distinct(syns.map((f) => `${f.ipSrc} > ${f.ethDst}`)),
  );
  bench.same(
    `requests are answered with be1 at ${mac}`,
    "48 of 48",
    `${result.filter((a) => a.ok).length} of ${result.length}`,
  );
}

async function checkPortNumber(bench: Bench): Promise<void> {
  const { lab, facts } = bench;
  const be3 = hostSpec("be3");
  const request = (ofport: number) => lab.ovs.vsctl("set", "interface", be3.port, `ofport_request=${ofport}`);
  const settled = (ofport: number) =>
    bench.until(async () => {
      const isAttached = (await dumpFlows(lab, `table=0,in_port=${ofport}`)).some((f) =>
        f.actions.includes("load:0x2"),
      );
      return isAttached && (await adjacencyOf(lab, "be3"))?.ofport === ofport;
    });
  bench.undo(() => settled(be3.ofport));
  bench.undo(() => request(be3.ofport));
  const load = await startLoad(lab, "client", `http://${facts.pub.vip}/`, { kept: 12 });
  bench.undo(() => load.finish());
  await request(78);
  bench.within("a port that gets another number is used under it", 3000, await settled(78));
  const stale = (await dumpFlows(lab)).filter((f) =>
    new RegExp(`in_port=${be3.ofport}\\b|output:${be3.ofport}\\b`).test(`${f.match} ${f.actions}`),
  );
  bench.same("no flow has the old number", "0 flows", `${stale.length} flows`);
  await bench.untilServing(facts.members.map(({ host }) => host));
  const answers = await lab.curl("client", `http://${facts.pub.vip}/`, 24);
  bench.check(
    "the member behind it serves",
    "24 answers, be3 among them",
    `${answers.filter((a) => a.ok).length} answers, ${distinct(answers.map((a) => a.backend))}`,
    answers.every((a) => a.ok) && answers.some((a) => a.backend === "be3"),
  );
  const report = await load.finish();
  const broken = report.kept.filter((c) => c.error !== null);
  bench.same("no connection broke meanwhile", "0 broken", `${broken.length} broken`);
  await request(be3.ofport);
  bench.within("and back under the old number", 3000, await settled(be3.ofport));
}
