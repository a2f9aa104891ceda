import type { RequestResult } from "../../requests.ts";
import type { HostName } from "../../topology.ts";
import type { Bench } from "../bench.ts";
import { addressOf, hostSpec, type MemberFacts, type SegmentFacts } from "../facts.ts";
import { badChecksums, cutShort, distinct, type Seen, tcp } from "../wire.ts";

/** Balanced requests of one client, and all that passed the wires meanwhile. */
export interface Balanced {
  readonly answers: readonly RequestResult[];
  readonly wire: (host: HostName) => readonly Seen[];
}

export function balance(bench: Bench, segment: SegmentFacts, count: number): Promise<Balanced> {
  const { lab, facts } = bench;
  const hosts = [segment.client, ...facts.members.map(({ host }) => host)];
  return bench
    .watch(hosts, () => lab.curl(segment.client, `http://${segment.vip}/`, count), "tcp")
    .then(({ wire, result }) => ({ wire, answers: result }));
}

/** What holds for clients of every kind. */
export function checkAnswers(bench: Bench, segment: SegmentFacts, { answers, wire }: Balanced): void {
  const { facts } = bench;
  const { client } = segment;
  const address = addressOf(hostSpec(client));
  const good = answers.filter((answer) => answer.ok);
  bench.same(`requests of ${client} to ${segment.vip}`, `${answers.length} answered`, `${good.length} answered`);
  const members = facts.members.map(({ host }) => host).sort();
  bench.same(`${client} is served by all members`, members.join(" "), distinct(good.map((a) => a.backend)));
  const least = Math.min(...members.map((host) => good.filter((a) => a.backend === host).length));
  const fair = Math.floor(answers.length / members.length / 4);
  bench.check(
    `each has its share of ${client}'s requests`,
    `at least ${fair} each`,
    `at least ${least} each`,
    least >= fair,
  );
  bench.same(`members see ${client}'s own address`, address, distinct(good.map((a) => a.client)));
  const served = facts.members.map(({ ip }) => `${ip}:${facts.memberPort}`).sort();
  bench.same(
    `port ${facts.vipPort} becomes ${facts.memberPort} for ${client}`,
    served.join(" "),
    distinct(good.map((a) => a.served)),
  );

  const seen = wire(client);
  const synAcks = seen.filter((f) => f.tcpFlags === tcp.synAck);
  bench.same(
    `all answers to ${client} come from the VIP`,
    `${segment.vip}:${facts.vipPort}`,
    distinct(synAcks.map((f) => `${f.ipSrc}:${f.tcpSrc}`)),
  );
  const resets = cutShort(seen).map((f) => `${f.ipSrc}:${f.tcpSrc} > ${f.ipDst}:${f.tcpDst}`);
  bench.same(`no connection of ${client} is reset`, "no resets", resets.join(", ") || "no resets");
  const ips = facts.members.map(({ ip }) => ip);
  const leaked = seen.filter((f) => ips.includes(f.ipSrc ?? "") || ips.includes(f.ipDst ?? ""));
  bench.same(`${client} sees no member's address`, "0 frames", `${leaked.length} frames`);
  const all = [seen, ...facts.members.map(({ host }) => wire(host))].flat();
  bench.same(
    `checksums of ${client}'s connections, both ends`,
    `0 bad of ${all.length}`,
    `${badChecksums(all).length} bad of ${all.length}`,
  );
}

/** Connections that a client opened to a member, as the member's interface saw them arrive. */
export function synsAt(balanced: Balanced, member: MemberFacts, segment: SegmentFacts): readonly Seen[] {
  const source = addressOf(hostSpec(segment.client));
  return balanced.wire(member.host).filter((f) => f.tcpFlags === tcp.syn && f.ipSrc === source);
}

/** "MAC > MAC ttl 63 port 8080" of all frames. */
export function pathOf(frames: readonly Seen[]): string {
  return distinct(frames.map((f) => `${f.ethSrc} > ${f.ethDst} ttl ${f.ipTtl} to ${f.ipDst}:${f.tcpDst}`));
}

/** Answers of one member, as the client's interface saw them arrive: told by the request's own port. */
export function answersFrom(balanced: Balanced, member: MemberFacts, segment: SegmentFacts): readonly Seen[] {
  const ports = balanced.answers.filter((a) => a.backend === member.host).map((a) => a.localPort);
  return balanced.wire(segment.client).filter((f) => f.tcpFlags === tcp.synAck && ports.includes(f.tcpDst ?? 0));
}
