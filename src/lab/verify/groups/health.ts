import type { HealthView } from "../../../../controller/api/views.ts";
import { parseEthernet } from "../../../../openflow/packet/ethernet.ts";
import { parseIpv4 } from "../../../../openflow/packet/ipv4.ts";
import { parseTcp } from "../../../../openflow/packet/tcp.ts";
import { patience, slowness } from "../../patience.ts";
import type { Bench, Group } from "../bench.ts";
import { countSlots, movedSlots, readSlots } from "../dump.ts";
import type { MemberFacts } from "../facts.ts";
import { type LoadReport, startLoad } from "../load.ts";
import { distinct, type Seen, tcp } from "../wire.ts";

/** New connections a second from each of two clients, on an ordinary machine. */
const rate = 30;

/** Probes as they are on the wire, and what follows from their failing. */
export const health: Group = {
  name: "health",
  about: "probes, members that fail, and members that come back",
  async run(bench) {
    const { facts } = bench;
    const filter = facts.segments
      .flatMap(({ probe }) => (probe === undefined ? [] : [`src host ${probe}`]))
      .join(" or ");
    const bystanders = ["up2", "cli2"] as const;
    const death = await bench.watch(["be2", "be4", ...bystanders], () => checkDeath(bench), filter);
    const sickness = await bench.watch(["be1", "be3"], () => checkSickness(bench), filter);
    for (const [healthy, { wire }] of [
      [["be2", "be4"], death],
      [["be1", "be3"], sickness],
    ] as const) {
      for (const host of healthy) checkProbes(bench, facts.members.find((member) => member.host === host)!, wire(host));
    }
    const elsewhere = bystanders.filter((host) => death.wire(host).some((f) => f.ipProto === 6));
    bench.same("probes go to members only", "nobody else", elsewhere.join(" ") || "nobody else");
  },
};

/** @param seen what reached a healthy member from its prober for some seconds */
function checkProbes(
  { check, same, facts }: Bench,
  { host, ip, mac, segment }: MemberFacts,
  seen: readonly Seen[],
): void {
  const { intervalMs, memberPort } = facts;
  const probes = seen.filter((f) => f.tcpFlags === tcp.syn);
  same(
    `probes of ${host} come from the segment's probe address and the gateway's MAC`,
    `${segment.probe} ${segment.gateway.mac} > ${mac} ${ip}:${memberPort}`,
    distinct(probes.map((f) => `${f.ipSrc} ${f.ethSrc} > ${f.ethDst} ${f.ipDst}:${f.tcpDst}`)),
  );
  const gaps = probes.slice(1).map((f, i) => f.at - probes[i]!.at);
  const longest = Math.max(0, ...gaps);
  const limit = patience(intervalMs) + 500;
  check(
    `${host} is probed every ${intervalMs / 1000} s`,
    `gaps of at most ${limit / 1000} s`,
    `${probes.length} probes, longest gap ${(longest / 1000).toFixed(2)} s`,
    probes.length >= 3 && longest <= limit,
  );
  const requests = seen.map(payload).filter((text) => text !== "");
  same(
    `${host} is asked over HTTP`,
    "GET / HTTP/1.0 or 1.1",
    distinct(requests.map((text) => (/^GET \/ HTTP\/1\.[01]\r\n/.test(text) ? "GET / HTTP/1.0 or 1.1" : text))),
  );
}

async function checkDeath(bench: Bench): Promise<void> {
  const { lab, facts } = bench;
  const be1 = lab.backend("be1");
  const others = facts.members.map(({ host }) => host).filter((host) => host !== "be1");
  const before = await readSlots(lab, facts);
  const loads = await Promise.all([
    startLoad(lab, "client", `http://${facts.pub.vip}/`, { perSecond: rate, kept: 12 }),
    startLoad(lab, "cli2", `http://${facts.p2.vip}/`, { perSecond: rate, kept: 12 }),
  ]);
  bench.undo(() => Promise.all(loads.map((load) => load.finish())));
  bench.undo(async () => be1.isRunning() || (await be1.start()));
  await bench.pause(500);
  const killedAt = Date.now();
  await be1.kill();
  const took = await bench.untilServing(others);
  bench.within("a killed member is out within fall × interval", facts.downMs, took);
  const outAt = Date.now();
  const down = await readSlots(lab, facts);
  const shares = others.map((host) => [...down.values()].filter((other) => other === host).length);
  bench.check(
    "its slots are shared by the others",
    "341 341 342",
    countSlots(down),
    [...shares].sort().join(" ") === "341 341 342",
  );
  const moved = movedSlots(before, down);
  const foreign = moved.filter(({ from }) => from !== "be1").length;
  bench.check(
    "its slots move, of the others' at most 1 %",
    "256 and at most 10",
    `${moved.length - foreign} and ${foreign}`,
    moved.length - foreign === 256 && foreign <= 10,
  );

  const { wire } = await bench.watch(["be1"], () => bench.pause(500 + facts.intervalMs), "tcp");
  const probers = facts.segments.map((s) => s.probe);
  const syns = wire("be1").filter((f) => f.tcpFlags === tcp.syn);
  const strange = syns.filter((f) => !probers.includes(f.ipSrc));
  bench.same("no client is sent to it any more", "0 connections", `${strange.length} connections`);
  bench.check(
    "but it is still probed",
    "1 or more probes",
    `${syns.length - strange.length} probes`,
    syns.length > strange.length,
  );
  for (const [i, client] of (["client", "cli2"] as const).entries()) {
    checkLosses(bench, client, await loads[i]!.finish(), killedAt, outAt);
  }
  await be1.start();
  bench.within(
    "a member that is back serves within rise × interval",
    facts.upMs,
    await bench.untilServing(["be1", ...others]),
  );
  bench.same(
    "with the slots it had",
    "0 slots differ",
    `${movedSlots(before, await readSlots(lab, facts)).length} slots differ`,
  );
}

/** While a member is dead and not found to be so, what is sent to it fails; nothing else does. */
function checkLosses(
  { check, same }: Bench,
  client: string,
  report: LoadReport,
  killedAt: number,
  outAt: number,
): void {
  const window = (outAt - killedAt) / 1000;
  const outside = report.failures.filter(
    ({ at }) => at > outAt + patience(200) || at < killedAt - patience(500),
  ).length;
  same(`requests of ${client} fail in that time only`, "0 before or after", `${outside} before or after`);
  // A quarter of all, give or take: connections are spread by chance.
  const most = Math.ceil(((rate / slowness) * window) / 2);
  const failed = report.failures.length;
  check(
    `and no more of ${client}'s than the dead member's share`,
    `at most ${most}`,
    `${failed} of ${report.sent} in ${window.toFixed(1)} s`,
    failed <= most,
  );
  const broken = report.kept.filter((c) => c.error !== null && c.backends[0] !== "be1").length;
  same(`connections of ${client} to other members do not break`, "0 broken", `${broken} broken`);
}

/** Two members at once: one answers with a wrong status, one does not answer at all. */
async function checkSickness(bench: Bench): Promise<void> {
  const { lab, facts } = bench;
  const be2 = lab.backend("be2");
  const be4 = lab.backend("be4");
  bench.undo(async () => be4.behave({}));
  bench.undo(async () => be2.resume());
  const { wire, result } = await bench.watch(
    ["be4", "be2"],
    async () => {
      be4.behave({ status: 500 });
      be2.pause();
      const limit = facts.downMs + facts.intervalMs;
      const took = await bench.untilServing(["be1", "be3"]);
      return {
        took,
        limit,
        slots: countSlots(await readSlots(lab, facts)),
        pools: await bench.api<readonly HealthView[]>("/v1/health"),
      };
    },
    "tcp",
  );
  bench.within("members that answer 500, or not at all, are out", result.limit, result.took);
  bench.same("the other two share all slots", "be1 512, be3 512", result.slots);
  const statuses = wire("be4")
    .map(payload)
    .map((text) => /^HTTP\/1\.\d (\d+)/.exec(text)?.[1])
    .filter((s) => s !== undefined);
  bench.check("the wire shows status 500", "500", distinct(statuses), statuses.includes("500"));
  const { probe } = facts.p3;
  const answered = wire("be2").filter((f) => f.ipDst === probe && (f.tcpPayloadLength ?? 0) > 0);
  bench.check(
    "the wire shows a member that says nothing",
    "at most 1 answer",
    `${answered.length} answers`,
    answered.length <= 1,
  );
  const reason = (name: string) =>
    result.pools.flatMap((p) => p.members).find((m) => m.name === name)?.nodes[0]?.reason ?? "none";
  bench.check(
    "the reason given for be4 is the status",
    "a reason with 500",
    reason("be4"),
    reason("be4").includes("500"),
  );
  bench.check(
    "the reason given for be2 is the time",
    "a reason with the time-out",
    reason("be2"),
    /within|time/.test(reason("be2")),
  );
  be4.behave({});
  be2.resume();
  const all = facts.members.map(({ host }) => host);
  const limit = facts.upMs + facts.intervalMs;
  bench.within("both are back when they behave", limit, await bench.untilServing(all));
}

/** What a TCP segment carries, as text. */
function payload(frame: Seen): string {
  const ip = parseIpv4(parseEthernet(frame.bytes)?.payload ?? Buffer.alloc(0));
  const segment = ip?.protocol === 6 ? parseTcp(ip.payload) : undefined;
  return Buffer.from(segment?.payload ?? []).toString("latin1");
}
