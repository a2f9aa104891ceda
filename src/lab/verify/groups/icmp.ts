import type { HostName } from "../../topology.ts";
import type { Bench, Group } from "../bench.ts";
import { badChecksums } from "../wire.ts";

/** "5 of 5, ttl 64": what ping says of its answers. */
export async function ping(bench: Bench, host: HostName, address: string, ...options: string[]): Promise<string> {
  const argv = ["ping", "-n", "-c", "5", "-i", "0.02", "-W", "2", ...options, address];
  const { stdout } = await bench.lab.attempt(host, argv);
  const [, sent = "0", received = "0"] = /(\d+) packets transmitted, (\d+) received/.exec(stdout) ?? [];
  const ttls = new Set([...stdout.matchAll(/ttl=(\d+)/g)].map(([, ttl]) => ttl));
  const duplicates = (stdout.match(/DUP!/g) ?? []).length;
  const more = duplicates > 0 ? `, ${duplicates} duplicates` : "";
  return `${received} of ${sent}${ttls.size > 0 ? `, ttl ${[...ttls].join(" ")}` : ""}${more}`;
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
        for (const size of ["1400", "1472"]) {
          bench.same(
            `client pings the VIP with ${size} bytes`,
            "5 of 5, ttl 64",
            await ping(bench, "client", facts.pub.vip, "-M", "do", "-s", size),
          );
        }
        bench.same(
          "100 pings in a row",
          "100 of 100, ttl 64",
          await ping(bench, "cli2", facts.p2.gateway.ip, "-c", "100", "-i", "0.002"),
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
