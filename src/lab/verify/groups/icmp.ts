import { patience } from "../../patience.ts";
import type { HostName } from "../../topology.ts";
import type { Bench, Group } from "../bench.ts";
import { badChecksums } from "../wire.ts";

/** "5 of 5, ttl 64": which of the first pings were answered, however late. */
export async function ping(
  bench: Bench,
  host: HostName,
  address: string,
  {
    count = 5,
    interval = 0.02,
    size = 56,
  }: { readonly count?: number; readonly interval?: number; readonly size?: number } = {},
): Promise<string> {
  // Without a deadline ping takes for lost what needs longer than twice the time of the others; with one it goes on
  // until it has had as many answers as it was to send.
  const limits = ["-c", `${count}`, "-i", `${interval}`, "-w", `${Math.ceil(patience(5))}`];
  const argv = ["ping", "-n", ...limits, "-M", "do", "-s", `${size}`, address];
  const { stdout } = await bench.lab.attempt(host, argv);
  const answers = [...stdout.matchAll(/icmp_seq=(\d+) ttl=(\d+) .*?(DUP!)?$/gm)].map(([, seq, ttl, dup]) => ({
    seq: Number(seq),
    ttl,
    dup: dup !== undefined,
  }));
  const answered = new Set(answers.filter(({ seq }) => seq <= count).map(({ seq }) => seq)).size;
  const ttls = [...new Set(answers.map(({ ttl }) => ttl))].join(" ") || "none";
  const duplicates = answers.filter(({ dup }) => dup).length;
  return `${answered} of ${count}, ttl ${ttls}${duplicates > 0 ? `, ${duplicates} duplicates` : ""}`;
}

/** Pings of addresses that exist in flows only. */
export const icmp: Group = {
  name: "icmp",
  about: "pings of the node's addresses, which exist in flows only",
  async run(bench) {
    const { facts } = bench;
    const { wire } = await bench.watch(
      ["client", "cli2", "cli3"],
      async () => {
        for (const segment of facts.segments) {
          for (const address of segment.own) {
            bench.same(
              `${segment.client} pings ${address}`,
              "5 of 5, ttl 64",
              await ping(bench, segment.client, address),
            );
          }
        }
        for (const [host, address, what] of [
          ["be1", facts.p3.gateway.ip, "the other segment's gateway"],
          ["be2", facts.p2.gateway.ip, "the other segment's gateway"],
          ["client", facts.p2.gateway.ip, "a private gateway"],
          ["client", facts.p3.vip, "a private VIP"],
          ["be1", facts.pub.vip, "the public VIP"],
        ] as const) {
          bench.same(`${host} pings ${what} ${address}`, "5 of 5, ttl 64", await ping(bench, host, address));
        }
        for (const size of [1400, 1472]) {
          bench.same(
            `client pings the VIP with ${size} bytes`,
            "5 of 5, ttl 64",
            await ping(bench, "client", facts.pub.vip, { size }),
          );
        }
        bench.same(
          "100 pings in a row",
          "100 of 100, ttl 64",
          await ping(bench, "cli2", facts.p2.gateway.ip, { count: 100, interval: 0.002 }),
        );
      },
      "icmp",
    );
    const frames = [...wire("client"), ...wire("cli2"), ...wire("cli3")];
    const replies = frames.filter((f) => f.icmpType === 0);
    bench.same(
      "all echo replies have valid checksums",
      `0 bad of ${replies.length}`,
      `${badChecksums(replies).length} bad of ${replies.length}`,
    );
    const gateways = facts.segments.map((s) => s.gateway.mac);
    const strange = replies.filter((f) => !gateways.includes(f.ethSrc));
    bench.same("all echo replies come from the segment's gateway MAC", "0 others", `${strange.length} others`);
  },
};
