import type { Group } from "../bench.ts";
import { countPackets, countSlots, movedSlots, readSlots } from "../dump.ts";
import { tcp } from "../wire.ts";
import { ping } from "./icmp.ts";

/** Without any live member nothing is sent to a dead one. */
export const failClose: Group = {
  name: "fail-close",
  about: "no live member: packets are dropped and counted, not sent to the dead",
  async run(bench) {
    const { lab, facts } = bench;
    const all = facts.members.map(({ host }) => host);
    const before = await readSlots(lab, facts);
    const startAll = () =>
      Promise.all(all.map(async (host) => lab.backend(host).isRunning() || (await lab.backend(host).start())));
    bench.undo(startAll);
    await Promise.all(all.map((host) => lab.backend(host).kill()));
    bench.within("when all members die, the slots are empty", facts.downMs, await bench.untilServing([]));
    bench.same("no slot leads anywhere", "no slots", countSlots(await readSlots(lab, facts)));

    const dropped = () => countPackets(lab, "table=11", (f) => f.priority === 10 && f.actions === "drop");
    const begin = await dropped();
    const { wire, result } = await bench.watch(
      ["client", "cli2", ...all],
      async () => {
        const requests = await Promise.all([
          lab.curl("client", `http://${facts.pub.vip}/`, 1, { maxTime: 1.5 }),
          lab.curl("cli2", `http://${facts.p2.vip}/`, 1, { maxTime: 1.5 }),
        ]);
        return requests.flat();
      },
      "tcp or icmp",
    );
    bench.same(
      "requests are not answered",
      "2 time-outs",
      `${result.filter((a) => /timed out|timeout/i.test(a.error)).length} time-outs`,
    );
    const sent = (["client", "cli2"] as const).flatMap((host) =>
      wire(host).filter((f) => f.tcpFlags === tcp.syn),
    ).length;
    // The switch brings counters of its cache into its flows now and then.
    await bench.until(async () => (await dropped()) - begin >= sent);
    const counted = (await dropped()) - begin;
    bench.check(
      "every SYN is counted as dropped",
      `${sent} packets`,
      `${counted} packets`,
      counted >= sent && sent >= 2,
    );
    const answers = (["client", "cli2"] as const).flatMap((host) =>
      wire(host).filter((f) => f.ipSrc === facts.pub.vip || f.ipSrc === facts.p2.vip),
    );
    bench.same("the VIP says nothing", "0 frames", `${answers.length} frames`);
    const reached = all.filter((host) =>
      wire(host).some((f) => f.ipSrc === "192.168.5.13" || f.ipSrc === "10.20.0.10"),
    );
    bench.same("no member is sent anything by clients", "nobody", reached.join(" ") || "nobody");
    bench.same("the VIP still answers pings", "5 of 5, ttl 64", await ping(bench, "client", facts.pub.vip));
    bench.same("the private one, too", "5 of 5, ttl 64", await ping(bench, "cli2", facts.p2.vip));
    bench.same(
      "hosts are still reached past the load balancer",
      "5 of 5, ttl 63",
      await ping(bench, "client", "10.20.0.2"),
    );

    await startAll();
    bench.within("when members are back, so is the service", facts.upMs, await bench.untilServing(all));
    bench.same(
      "with the slots as they were",
      "0 slots differ",
      `${movedSlots(before, await readSlots(lab, facts)).length} slots differ`,
    );
    const again = await lab.curl("client", `http://${facts.pub.vip}/`, 20);
    bench.same("and requests are answered", "20 of 20", `${again.filter((a) => a.ok).length} of ${again.length}`);
  },
};
