import type { Bench, Group } from "../bench.ts";
import { countPackets } from "../dump.ts";
import { hostSpec, type SegmentFacts } from "../facts.ts";
import { brokenKept, startLoad } from "../load.ts";
import { distinct } from "../wire.ts";
import { answersFrom, balance, checkAnswers, pathOf, synsAt } from "./balance.ts";

/** Clients beside the members: switched to the neighbours, routed to the others, and unable to tell the difference. */
export const privateGroup: Group = {
  name: "private",
  about: "balancing for clients inside the members' segments",
  async run(bench) {
    await checkSegment(bench, bench.facts.p2);
    await checkSegment(bench, bench.facts.p3);
  },
};

async function checkSegment(bench: Bench, segment: SegmentFacts): Promise<void> {
  const { lab, facts } = bench;
  const client = hostSpec(segment.client);
  const routes = (await lab.exec(client.name, ["ip", "route"])).trim().split("\n");
  bench.same(
    `${client.name} has no route but its own subnet`,
    `1 route, ${segment.subnet}`,
    `${routes.length} route, ${routes[0]?.split(" ")[0]}`,
  );

  const translated = () =>
    countPackets(lab, "table=24", (f) => f.match.startsWith("tcp,") && f.match.includes(`reg0=0x${segment.id},`));
  const before = await translated();
  const balanced = await balance(bench, segment, 60);
  checkAnswers(bench, segment, balanced);
  for (const member of facts.members) {
    const isNeighbour = member.segment.id === segment.id;
    const { gateway } = member.segment;
    const way = isNeighbour ? `${client.mac} > ${member.mac} ttl 64` : `${gateway.mac} > ${member.mac} ttl 63`;
    bench.same(
      `${client.name} to ${member.host}: ${isNeighbour ? "switched, no hop counted" : "routed"}`,
      `${way} to ${member.ip}:${facts.memberPort}`,
      pathOf(synsAt(balanced, member, segment)),
    );
    const back = isNeighbour ? `${member.mac} > ${client.mac} ttl 64` : `${segment.gateway.mac} > ${client.mac} ttl 63`;
    bench.same(
      `answers of ${member.host} to ${client.name}: ${isNeighbour ? "TTL 64, from the neighbour" : "TTL 63, from the gateway"}`,
      back,
      distinct(answersFrom(balanced, member, segment).map((f) => `${f.ethSrc} > ${f.ethDst} ttl ${f.ipTtl}`)),
    );
  }
  // The switch brings what its cache has counted into its flows now and then.
  await bench.until(async () => (await translated()) > before);
  const counted = (await translated()) - before;
  bench.check(
    `answers inside ${segment.name} are translated in table 24`,
    "more than 0 packets",
    `${counted} packets`,
    counted > 0,
  );
  const load = await startLoad(lab, client.name, `http://${segment.vip}/`, { kept: 8 });
  await bench.pause(800);
  const report = await load.finish();
  const broken = brokenKept(report);
  bench.check(
    `connections of ${client.name} stay with their members`,
    "8 unbroken",
    `${8 - broken.length} unbroken, ${report.kept.reduce((sum, c) => sum + c.answers, 0)} answers`,
    broken.length === 0,
  );
}
