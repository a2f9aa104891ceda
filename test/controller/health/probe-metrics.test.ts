import { expect, test } from "vitest";
import { newMember, step } from "../../../controller/health/machine.ts";
import { ProbeMetrics } from "../../../controller/health/probe-metrics.ts";
import { makeMetrics } from "../../../controller/metrics.ts";
import { probeTargets } from "../../../pipeline/probe-target.ts";
import { probedTopology } from "../../support/probe-net.ts";

test("members have series while they are probed, pools while one of their members is", async () => {
  const metrics = makeMetrics();
  const probes = new ProbeMetrics(metrics, "lb1");
  const [be1, be2] = probeTargets(probedTopology(2));
  const result = (ok: boolean) => ({ ok, reason: "", ms: 2, at: 0 });
  const up = step(newMember(0), { kind: "probed", result: result(true) }, { rise: 1, fall: 1 });
  probes.probed(be1!, result(true), up);
  probes.probed(be2!, result(false), newMember(0));
  const text = async () => await metrics.registry.metrics();
  const labels = 'node="lb1",load_balancer="web",pool="web",member="be1",member_id="1"';
  expect(await text()).toContain(`oflb_member_up{${labels}} 1`);
  expect(await text()).toContain(`oflb_probes_total{${labels},result="success"} 1`);
  expect(await text()).toContain('member="be2",member_id="2",result="failure"} 1');
  expect(await text()).toContain(
    'oflb_probe_duration_seconds_count{node="lb1",load_balancer="web",pool="web",pool_id="1"} 2',
  );
  probes.forgotten(be1!);
  expect(await text()).not.toContain('member="be1"');
  expect(await text()).toContain('member="be2"');
  expect(await text()).toContain('pool_id="1"');
  probes.forgotten(be2!);
  expect(await text()).not.toContain('member="be2"');
  expect(await text()).not.toContain('pool_id="1"');
});
