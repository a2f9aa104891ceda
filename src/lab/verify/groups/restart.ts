import type { PlanView, StatusView } from "../../../../controller/api/views.ts";
import { waitSteady } from "../../daemon.ts";
import type { Bench, Group } from "../bench.ts";
import { dumpFlows, isProgrammed, movedSlots, readSlots } from "../dump.ts";
import { brokenKept, startLoad } from "../load.ts";
import { distinct } from "../wire.ts";
import { differing, touchedSince } from "./reload.ts";

const foreignCookie = "cookie=0x5eed/-1";

/** The controller dies and comes back; the switch forwards all the time. */
export const restart: Group = {
  name: "restart",
  about: "the controller killed and started again under load; drift repaired",
  async run(bench) {
    const { lab, facts } = bench;
    bench.undo(() => lab.ovs.ofctl("del-flows", lab.bridge, foreignCookie));
    bench.undo(async () => bench.daemon().isAlive() || (await bench.daemon().startAgain()));
    await lab.ovs.ofctl("add-flow", lab.bridge, "table=1,priority=7,cookie=0x5eed,udp,tp_dst=9999,actions=drop");
    const before = (await dumpFlows(lab)).filter(isProgrammed);
    const slots = await readSlots(lab, facts);
    const at = performance.now();
    const load = await startLoad(lab, "client", `http://${facts.pub.vip}/`, { perSecond: 50, kept: 12 });
    const beside = await startLoad(lab, "cli2", `http://${facts.p2.vip}/`, { perSecond: 20, kept: 12 });
    bench.undo(() => Promise.all([load.finish(), beside.finish()]));
    await bench.pause(300);
    await bench.daemon().kill();
    bench.same("the controller is dead", "false", `${bench.daemon().isAlive()}`);
    await bench.pause(500);
    const headless = await lab.curl("client", `http://${facts.pub.vip}/`, 12);
    bench.same(
      "requests are answered without a controller",
      "12 of 12",
      `${headless.filter((a) => a.ok).length} of 12`,
    );
    const { wire } = await bench.watch(
      ["client", "be1", "be2"],
      async () => {
        const daemon = await bench.daemon().startAgain();
        await waitSteady(daemon.web, 20_000);
        // Long enough for the first confirmation of every neighbour and every member.
        await bench.pause(facts.intervalMs + 1500);
      },
      "arp",
    );
    const now = (await dumpFlows(lab)).filter(isProgrammed);
    bench.same("the flows are the same after it", "0 differ", `${differing(before, now)} differ`);
    bench.same("none was put in anew", "0 flows", `${await touchedSince(bench, before, at)} flows`);
    const status = await bench.api<StatusView>("/v1/status");
    bench.same("the new controller has sent no flow mod", "0", `${status.nodes[0]?.flowModsSent}`);
    bench.same(
      "the same slots lead to the same members",
      "0 differ",
      `${movedSlots(slots, await readSlots(lab, facts)).length} differ`,
    );
    for (const [segment, host] of [
      [facts.pub, "client"],
      [facts.p2, "be1"],
      [facts.p3, "be2"],
    ] as const) {
      const announced = wire(host).filter(
        (f) => f.arpOp === 1 && f.arpSpa === f.arpTpa && f.arpSha === segment.gateway.mac,
      );
      bench.same(
        `the node's addresses are announced in ${segment.name}`,
        [...segment.own].sort().join(" "),
        distinct(announced.map((f) => f.arpSpa)),
      );
    }
    for (const [client, running] of [
      ["client", load],
      ["cli2", beside],
    ] as const) {
      const report = await running.finish();
      bench.check(
        `no request of ${client} failed`,
        "0 failed of more than 50",
        `${report.failures.length} failed of ${report.sent}`,
        report.failures.length === 0 && report.sent > 50,
      );
      bench.same(
        `no connection of ${client} broke`,
        "0 of 12",
        `${brokenKept(report).length} of ${report.kept.length}`,
      );
    }
    bench.same(
      "a flow of somebody else is still there",
      "1 flow",
      `${(await dumpFlows(lab, foreignCookie)).length} flow`,
    );
    await checkDrift(bench);
    bench.same("and still", "1 flow", `${(await dumpFlows(lab, foreignCookie)).length} flow`);
    const [plan] = await bench.api<readonly PlanView[]>("/v1/plan");
    bench.same("nothing is left to change", "0 changes", `${plan?.operations.length} changes`);
  },
};

/** Flows that somebody deletes or changes by hand are put right. */
async function checkDrift(bench: Bench): Promise<void> {
  const { lab, facts } = bench;
  const whole = (await dumpFlows(lab)).filter(isProgrammed);
  const repaired = () => bench.until(async () => differing(whole, (await dumpFlows(lab)).filter(isProgrammed)) === 0);
  await lab.ovs.ofctl("del-flows", lab.bridge, "table=12,cookie=0x4c42000000000000/0xffff000000000000");
  bench.within("flows deleted by hand are back", 3000, await repaired());
  await lab.ovs.ofctl(
    "mod-flows",
    lab.bridge,
    "table=25,reg0=2,dl_dst=00:00:00:00:00:00/00:00:00:00:00:00,actions=drop",
  );
  bench.within("flows changed by hand are as before", 3000, await repaired());
  await lab.ovs.ofctl("del-groups", lab.bridge, `group_id=${653_000 + facts.p2.id}`);
  const flood = async () =>
    (await lab.ovs.ofctl("dump-groups", lab.bridge)).includes(`group_id=${653_000 + facts.p2.id},`);
  bench.within(
    "a flood group deleted by hand is back",
    3000,
    await bench.until(async () => (await flood()) && (await repaired()) !== undefined),
  );
  const answers = await lab.curl("client", `http://${facts.pub.vip}/`, 12);
  bench.same("and requests are answered", "12 of 12", `${answers.filter((a) => a.ok).length} of 12`);
}
