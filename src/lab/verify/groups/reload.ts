import { readFileSync, writeFileSync } from "node:fs";
import type { PlanView, StatusView } from "../../../../controller/api/views.ts";
import { patience } from "../../patience.ts";
import type { Bench, Group } from "../bench.ts";
import { countPackets, type DumpedFlow, dumpFlows, flowText, isProgrammed } from "../dump.ts";
import { addressOf, hostSpec } from "../facts.ts";
import { arpRequest } from "../frames.ts";
import { brokenKept, startLoad } from "../load.ts";
import { distinct } from "../wire.ts";
import { ping } from "./icmp.ts";

const balancers = "/v2.0/lbaas/loadbalancers";
const newVip = "192.168.5.22";
const mention = new RegExp(`\\b${newVip.replaceAll(".", "\\.")}\\b|c0a80516`);

/** Load balancers and the topology file change under a running node. */
export const reload: Group = {
  name: "reload",
  about: "load balancers and a topology file that change under a running node",
  async run(bench) {
    const { lab, facts } = bench;
    const file = bench.daemon().config;
    const original = readFileSync(file, "utf8");
    const load = (text: string) => {
      writeFileSync(file, text);
      bench.daemon().reload();
    };
    const mentions = async () => (await dumpFlows(lab)).filter((f) => mention.test(flowText(f))).length;
    bench.undo(() => bench.until(async () => (await mentions()) === 0));
    bench.undo(async () => load(original));

    const before = await programmed(bench);
    const at = performance.now();
    const traffic = await startLoad(lab, "client", `http://${facts.pub.vip}/`, { perSecond: 20, kept: 8 });
    bench.undo(() => traffic.finish());
    await bench.pause(300);

    const asker = hostSpec("client");
    let remove = async () => {};
    const { wire } = await bench.watch(
      ["client"],
      async () => {
        const path = await addBalancer(bench);
        remove = () => removeBalancer(bench, path);
        bench.undo(remove);
        const appeared = await bench.until(async () => (await mentions()) > 0);
        bench.within("a VIP that is added has flows", 3000, appeared);
        await bench.pause(1000);
        await bench.inject("client", [arpRequest(asker.mac, addressOf(asker), newVip)]);
        await bench.pause(50);
      },
      "arp",
    );
    const announced = wire("client").filter((f) => f.arpOp === 1 && f.arpSpa === newVip && f.arpTpa === newVip);
    bench.check(
      "it is announced",
      "1 or 2 times",
      `${announced.length} times`,
      announced.length >= 1 && announced.length <= 2,
    );
    const answers = wire("client").filter((f) => f.arpOp === 2 && f.arpSpa === newVip && f.ethDst === asker.mac);
    bench.same(
      "it answers ARP",
      `1 answer, ${facts.pub.gateway.mac}`,
      `${answers.length} answer, ${distinct(answers.map((f) => f.arpSha))}`,
    );
    bench.same("it answers pings", "5 of 5, ttl 64", await ping(bench, "client", newVip));
    const served = await lab.curl("client", `http://${newVip}/`, 16);
    bench.same("it serves", "16 of 16", `${served.filter((a) => a.ok).length} of 16`);
    bench.same("no flow that was there is touched", "0 flows", `${await touchedSince(bench, before, at)} flows`);

    await remove();
    bench.within(
      "a VIP that is taken away has no flows",
      3000,
      await bench.until(async () => (await mentions()) === 0),
    );
    const silence = await bench.watch(
      ["client"],
      async () => {
        await bench.inject("client", [arpRequest(asker.mac, addressOf(asker), newVip)]);
        await bench.pause(200);
      },
      "arp",
    );
    const still = silence.wire("client").filter((f) => f.arpOp === 2 && f.arpSpa === newVip).length;
    bench.same("and answers no ARP", "0 answers", `${still} answers`);

    await checkListenerOff(bench);
    await checkFault(bench, original, load);
    const report = await traffic.finish();
    bench.same("no request failed through all of this", "0 failed", `${report.failures.length} failed`);
    bench.same("no connection broke", "0 broken", `${brokenKept(report).length} broken`);
    bench.same(
      "the flows are those of the beginning",
      "0 differ",
      `${differing(before, await programmed(bench))} differ`,
    );
    bench.same(
      "none of them was put in anew",
      "0 flows",
      `${await touchedSince(bench, before, at, isUntouchable)} flows`,
    );
    const [plan] = await bench.api<readonly PlanView[]>("/v1/plan");
    bench.same(
      "a second look at the switch finds nothing to change",
      "0 changes",
      `${plan?.operations.length} changes`,
    );
  },
};

/** Makes a second load balancer with the same members, in one request. @returns its path. */
async function addBalancer({ api, facts }: Bench): Promise<string> {
  const members = facts.members.map(({ host, ip }) => ({
    name: host,
    address: ip,
    protocol_port: facts.memberPort,
  }));
  const pool = { name: "second", protocol: "TCP", lb_algorithm: "ROUND_ROBIN", members };
  const { loadbalancer } = await api<{ loadbalancer: { id: string } }>(balancers, "POST", {
    loadbalancer: {
      name: "second",
      vip_subnet_id: "pub",
      vip_address: newVip,
      listeners: [{ protocol: "TCP", protocol_port: facts.vipPort, default_pool: pool }],
    },
  });
  return `${balancers}/${loadbalancer.id}`;
}

/** Deletes a load balancer with all that is in it; nothing happens when it is gone. */
async function removeBalancer({ api }: Bench, path: string): Promise<void> {
  const { loadbalancers } = await api<{ loadbalancers: readonly { id: string }[] }>(balancers);
  if (loadbalancers.some(({ id }) => path.endsWith(id))) await api(`${path}?cascade=true`, "DELETE");
}

/** The listener serves two of three VIPs: the third one's clients are dropped and counted, the others feel nothing. */
async function checkListenerOff(bench: Bench): Promise<void> {
  const { lab, facts } = bench;
  const { listeners } = await bench.api<{ listeners: readonly { id: string }[] }>("/v2.0/lbaas/listeners");
  const serve = (vips: readonly string[] | null) =>
    bench.api(`/v2.0/lbaas/listeners/${listeners[0]?.id}`, "PUT", { listener: { vips } });
  bench.undo(() => serve(null));
  const { p3 } = facts;
  const listens = async () =>
    (await dumpFlows(lab, "table=1")).some(
      (f) => [130, 140].includes(f.priority) && f.match.includes(`nw_dst=${p3.vip},`),
    );
  await serve([facts.pub.vip, facts.p2.vip]);
  bench.within("a listener is off for one VIP", 3000, await bench.until(async () => !(await listens())));
  const drops = () => countPackets(lab, "table=1", (f) => f.priority === 125 && f.match.includes(`nw_dst=${p3.vip}`));
  const before = await drops();
  const [refused] = await lab.curl("cli3", `http://${p3.vip}/`, 1, { maxTime: 1.2 });
  await bench.until(async () => (await drops()) > before);
  bench.same("its clients get no answer", "no answer", refused?.ok ? `answer of ${refused.backend}` : "no answer");
  const counted = (await drops()) - before;
  bench.check("and are counted at priority 125", "1 or more packets", `${counted} packets`, counted > 0);
  bench.same("the VIP still answers pings", "5 of 5, ttl 64", await ping(bench, "cli3", p3.vip));
  const [direct] = await lab.curl("cli3", `http://10.30.0.2:${facts.memberPort}/`);
  bench.same("the segment is as connected as before", "be2", direct?.backend ?? "");
  const others = await lab.curl("cli2", `http://${facts.p2.vip}/`, 8);
  bench.same("the other VIPs serve on", "8 of 8", `${others.filter((a) => a.ok).length} of 8`);
  await serve(null);
  bench.within("the listener is on again", 3000, await bench.until(listens));
  const again = await lab.curl("cli3", `http://${p3.vip}/`, 8);
  bench.same("and serves", "8 of 8", `${again.filter((a) => a.ok).length} of 8`);
}

/** A file with an error changes nothing. */
async function checkFault(bench: Bench, original: string, load: (text: string) => void): Promise<void> {
  const { lab, facts } = bench;
  const before = await programmed(bench);
  const at = performance.now();
  const reloadError = async () => (await bench.api<StatusView>("/v1/status")).reloadError;
  load(original.replace("subnet: 10.20.0.0/24", "subnet: 10.20.0.0/99"));
  await bench.until(async () => (await reloadError()) !== null);
  const error = (await reloadError()) ?? "none";
  bench.check(
    "a faulty file is refused with the line",
    "an error with its line",
    error.split("\n")[0] ?? "",
    /:\d+:\d+/.test(error),
  );
  await bench.pause(300);
  bench.same(
    "and changes no flow",
    "0 changed, 0 touched",
    `${differing(before, await programmed(bench))} changed, ${await touchedSince(bench, before, at)} touched`,
  );
  const answers = await lab.curl("client", `http://${facts.pub.vip}/`, 8);
  bench.same("the service goes on", "8 of 8", `${answers.filter((a) => a.ok).length} of 8`);
  load(original);
  await bench.until(async () => (await reloadError()) === null);
}

async function programmed(bench: Bench): Promise<readonly DumpedFlow[]> {
  return (await dumpFlows(bench.lab)).filter(isProgrammed);
}

/** Flows that are in one of the two only. */
export function differing(before: readonly DumpedFlow[], after: readonly DumpedFlow[]): number {
  const a = new Set(before.map(flowText));
  const b = new Set(after.map(flowText));
  return [...a].filter((text) => !b.has(text)).length + [...b].filter((text) => !a.has(text)).length;
}

/** Flows of `before` that are younger in the switch than the time since then: they were put in again. */
export async function touchedSince(
  bench: Bench,
  before: readonly DumpedFlow[],
  at: number,
  concerns: (flow: DumpedFlow) => boolean = () => true,
): Promise<number> {
  const known = new Set(before.filter(concerns).map(flowText));
  const now = await programmed(bench);
  const seconds = (performance.now() - at) / 1000;
  return now.filter((f) => known.has(flowText(f)) && f.seconds < seconds - patience(0.5)).length;
}

/** What the listener of p3's VIP owns comes and goes here; all else is to stay. */
function isUntouchable({ match }: DumpedFlow): boolean {
  return !match.includes("nw_dst=10.30.0.100");
}
