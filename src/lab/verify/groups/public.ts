import type { Group } from "../bench.ts";
import { countSlots, dumpFlows, readSlots } from "../dump.ts";
import { addressOf, hostSpec } from "../facts.ts";
import { brokenKept, startLoad } from "../load.ts";
import { distinct, tcp } from "../wire.ts";
import { answersFrom, balance, checkAnswers, pathOf, synsAt } from "./balance.ts";

/** Clients of the public segment: routed to every member and back. */
export const publicGroup: Group = {
  name: "public",
  about: "balancing for clients of the public segment",
  async run(bench) {
    const { lab, facts } = bench;
    const { pub } = facts;
    const client = hostSpec(pub.client);
    const counted = async () => (await dumpFlows(lab, "table=11")).filter((f) => f.priority === 100);
    const before = (await counted()).reduce((sum, f) => sum + f.packets, 0);
    const balanced = await balance(bench, pub, 80);
    checkAnswers(bench, pub, balanced);
    for (const member of facts.members) {
      const { gateway } = member.segment;
      bench.same(
        `client to ${member.host}: routed, translated, address kept`,
        `${gateway.mac} > ${member.mac} ttl 63 to ${member.ip}:${facts.memberPort}`,
        pathOf(synsAt(balanced, member, pub)),
      );
      bench.same(
        `answers of ${member.host} to client: routed back`,
        `${pub.gateway.mac} > ${client.mac} ttl 63`,
        distinct(answersFrom(balanced, member, pub).map((f) => `${f.ethSrc} > ${f.ethDst} ttl ${f.ipTtl}`)),
      );
    }
    const sent = balanced
      .wire(pub.client)
      .filter((f) => f.tcpFlags === tcp.syn)
      .map((f) => f.tcpSrc);
    const arrived = facts.members.flatMap((m) => synsAt(balanced, m, pub)).map((f) => f.tcpSrc);
    const astray = sent.filter((port) => arrived.filter((other) => other === port).length !== 1);
    bench.same(
      "every connection reaches exactly one member, its source port kept",
      `${sent.length} of ${sent.length}`,
      `${sent.length - astray.length} of ${sent.length}`,
    );

    const packets = async () => (await counted()).reduce((sum, f) => sum + f.packets, 0);
    // The switch brings what its cache has counted into its flows now and then.
    await bench.until(async () => (await packets()) - before >= balanced.answers.length);
    const slots = await counted();
    const after = await packets();
    bench.check(
      "slot flows count the connections",
      `at least ${balanced.answers.length} packets`,
      `${after - before} packets`,
      after - before >= balanced.answers.length,
    );
    bench.same(
      "every slot number has one flow",
      "1024 flows, 1024 slots",
      `${slots.length} flows, ${(await readSlots(lab, facts)).size} slots`,
    );
    bench.same(
      "members of equal weight have equal shares",
      "be1 256, be2 256, be3 256, be4 256",
      countSlots(await readSlots(lab, facts)),
    );

    const load = await startLoad(lab, "client", `http://${pub.vip}/`, { kept: 12 });
    await bench.pause(1500);
    const report = await load.finish();
    const answers = report.kept.reduce((sum, c) => sum + c.answers, 0);
    bench.check(
      "a connection stays with its member",
      "12 connections of one member each, more than 5 answers",
      `${12 - brokenKept(report).length} connections, ${answers} answers`,
      brokenKept(report).length === 0 && answers > 60,
    );
    bench.check(
      "different connections of one client go to different members",
      "2 or more",
      distinct(report.kept.flatMap((c) => c.backends)),
      new Set(report.kept.flatMap((c) => c.backends)).size >= 2,
    );
    const [other] = await lab.curl("client", `http://${facts.p2.vip}/`);
    bench.same(
      "a private VIP is reached through the node, too",
      `${addressOf(client)} served`,
      `${other?.client} ${other?.ok ? "served" : other?.error}`,
    );
    const [member] = await lab.curl("cli2", `http://${facts.p2.vip}/`);
    bench.same("and from beside it", "10.20.0.10 served", `${member?.client} ${member?.ok ? "served" : member?.error}`);
  },
};
