import type { HostName } from "../../topology.ts";
import type { Group } from "../bench.ts";
import { countSlots, movedSlots, readSlots } from "../dump.ts";
import { brokenKept, startLoad } from "../load.ts";
import { distinct, tcp } from "../wire.ts";

const drained: HostName = "be1";

/** A member that is to finish what it has and get nothing new. */
export const drain: Group = {
  name: "drain",
  about: "a member that gets no new connections and keeps those it has",
  async run(bench) {
    const { lab, facts } = bench;
    const all = facts.members.map(({ host }) => host);
    const others = all.filter((host) => host !== drained);
    const before = await readSlots(lab, facts);
    const url = `http://${facts.pub.vip}/`;
    const load = await startLoad(lab, "client", url, { kept: 24 });
    const beside = await startLoad(lab, "cli2", `http://${facts.p2.vip}/`, { kept: 24 });
    bench.undo(() => Promise.all([load.finish(), beside.finish()]));
    bench.undo(() => bench.api(`/v1/members/${drained}/enable`, "POST"));
    await bench.pause(800);

    await bench.api(`/v1/members/${drained}/drain`, "POST");
    bench.within("a drained member has no slots", 2000, await bench.untilServing(others));
    const drainedAt = Date.now();
    const slots = await readSlots(lab, facts);
    const foreign = movedSlots(before, slots).filter(({ from }) => from !== drained).length;
    bench.check("of the others' slots at most 1 % move", "at most 10", `${foreign}`, foreign <= 10);
    const { wire, result } = await bench.watch(
      [drained],
      async () => {
        const answers = await lab.curl("client", url, 40);
        await bench.pause(facts.intervalMs);
        return answers;
      },
      "tcp",
    );
    bench.same(
      "new requests are all answered by the others",
      `40 by ${distinct(others)}`,
      `${result.filter((a) => a.ok).length} by ${distinct(result.map((a) => a.backend))}`,
    );
    const probers = facts.segments.map((s) => s.probe);
    const syns = wire(drained).filter((f) => f.tcpFlags === tcp.syn);
    const fresh = syns.filter((f) => !probers.includes(f.ipSrc));
    bench.same("no new connection reaches it", "0 connections", `${fresh.length} connections`);
    bench.check(
      "it is still probed",
      "1 or more probes",
      `${syns.length - fresh.length} probes`,
      syns.length > fresh.length,
    );

    await bench.api(`/v1/members/${drained}/enable`, "POST");
    bench.within("once enabled it has slots again", 2000, await bench.untilServing(all));
    bench.same(
      "the very slots it had",
      "0 slots differ",
      `${movedSlots(before, await readSlots(lab, facts)).length} slots differ`,
    );
    const again = await lab.curl("client", url, 40);
    bench.check(
      "and new connections",
      `${drained} among the answers`,
      countAnswers(again.map((a) => a.backend)),
      again.some((a) => a.backend === drained),
    );
    for (const [client, running] of [
      ["client", load],
      ["cli2", beside],
    ] as const) {
      const report = await running.finish();
      const kept = report.kept.filter((c) => c.backends.includes(drained));
      const alive = kept.filter((c) => c.error === null && c.backends.length === 1 && c.lastAt > drainedAt + 500);
      bench.check(
        `connections of ${client} to the drained member went on`,
        "all of them, 1 or more",
        `${alive.length} of ${kept.length}`,
        kept.length > 0 && alive.length === kept.length,
      );
      bench.same(`no other connection of ${client} broke`, "0 broken", `${brokenKept(report).length} broken`);
    }
    bench.same("shares are as before", countSlots(before), countSlots(await readSlots(lab, facts)));
  },
};

function countAnswers(names: readonly string[]): string {
  return [...new Set(names)]
    .sort()
    .map((name) => `${name} ${names.filter((other) => other === name).length}`)
    .join(", ");
}
