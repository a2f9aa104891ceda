import { describe, expect, test } from "vitest";
import { formatPriorityMatch } from "../../openflow/text/print-flow.ts";
import { nextHops } from "../../pipeline/addresses.ts";
import { compile } from "../../pipeline/compile.ts";
import type { DesiredState, HealthMonitor, Member } from "../../pipeline/model.ts";
import { probeTargets } from "../../pipeline/probe-target.ts";
import { ip, seedState } from "../support/topology.ts";

/** The seed's network with its first member, and its pool's monitor, changed. */
const withMember = (change: Partial<Member>, monitor?: HealthMonitor["type"]): DesiredState => {
  const s = seedState(64);
  const lb = s.loadBalancers[0]!;
  const pool = lb.pools[0]!;
  const [first, ...others] = pool.members;
  const healthMonitor = { ...pool.healthMonitor!, ...(monitor === undefined ? {} : { type: monitor }) };
  const pools = [{ ...pool, healthMonitor, members: [{ ...first!, ...change }, ...others] }];
  return { ...s, loadBalancers: [{ ...lb, pools }] };
};
const firstTarget = (s: DesiredState) => probeTargets(s).find((t) => t.member.id === 1);
const punted = (s: DesiredState): readonly string[] =>
  compile(s)
    .flows.filter((f) => f.tableId === 1 && f.priority === 195)
    .map((f) => formatPriorityMatch(f.match, f.priority));

describe("whom to probe", () => {
  test("every member of a pool with a monitor, from its own segment's probe address", () => {
    expect(
      probeTargets(seedState(64)).map((t) => [t.member.name, t.ip, t.port, t.source, t.segment.id, t.nextHop]),
    ).toEqual([
      ["be1", ip("10.20.0.2"), 8080, ip("10.20.0.253"), 2, ip("10.20.0.2")],
      ["be2", ip("10.30.0.2"), 8080, ip("10.30.0.253"), 3, ip("10.30.0.2")],
      ["be3", ip("10.20.0.3"), 8080, ip("10.20.0.253"), 2, ip("10.20.0.3")],
      ["be4", ip("10.30.0.3"), 8080, ip("10.30.0.253"), 3, ip("10.30.0.3")],
    ]);
  });

  test("draining ones, too; disabled ones, those of a load balancer that is off and unmonitored ones not", () => {
    const names = (s: DesiredState) => probeTargets(s).map((t) => t.member.name);
    expect(names(withMember({ drain: true }))).toContain("be1");
    expect(names(withMember({ adminUp: false }))).toEqual(["be2", "be3", "be4"]);
    const s = seedState(64);
    expect(names({ ...s, loadBalancers: s.loadBalancers.map((lb) => ({ ...lb, adminUp: false })) })).toEqual([]);
    const unmonitored = s.loadBalancers.map((lb) => ({
      ...lb,
      pools: lb.pools.map(({ healthMonitor: _, ...p }) => p),
    }));
    expect(names({ ...s, loadBalancers: unmonitored })).toEqual([]);
  });

  test("behind a static route: by its router, from that segment; without a probe address from the gateway's", () => {
    const { segment: _, ...member } = withMember({}).loadBalancers[0]!.pools[0]!.members[0]!;
    const s = seedState(64);
    const lb = s.loadBalancers[0]!;
    const pools = [{ ...lb.pools[0]!, members: [{ ...member, ip: ip("172.16.1.1") }] }];
    const far = { ...s, loadBalancers: [{ ...lb, pools }] };
    expect(firstTarget(far)).toMatchObject({ nextHop: ip("192.168.5.1"), source: ip("192.168.5.20") });
    expect([...punted(far)].sort()).toEqual([
      expect.stringContaining(
        "icmp,reg0=0x1,dl_dst=02:42:c0:a8:05:14,nw_src=172.16.1.1,nw_dst=192.168.5.20,icmp_type=3",
      ),
      expect.stringContaining(
        "icmp,reg0=0x1,dl_dst=02:42:c0:a8:05:14,nw_src=192.168.5.1,nw_dst=192.168.5.20,icmp_type=3",
      ),
      expect.stringContaining(
        "tcp,reg0=0x1,dl_dst=02:42:c0:a8:05:14,nw_src=172.16.1.1,nw_dst=192.168.5.20,tp_src=8080",
      ),
    ]);
  });

  test("where the monitor says, which is then a next hop, too", () => {
    const s = withMember({ monitor: { ip: ip("10.30.0.77"), port: 9_000 } });
    expect(firstTarget(s)).toMatchObject({ ip: ip("10.30.0.77"), port: 9_000, source: ip("10.30.0.253") });
    expect(nextHops(s)).toContainEqual({ segment: 3, ip: ip("10.30.0.77") });
    expect(nextHops(s)).toContainEqual({ segment: 2, ip: ip("10.20.0.2") });
    expect(punted(s).filter((m) => m.includes("10.30.0.77"))).toHaveLength(2);
    expect(punted(s).filter((m) => m.includes("nw_src=10.20.0.2,"))).toEqual([]);
  });
});

describe("what reaches the prober", () => {
  test.each<readonly [HealthMonitor["type"], string]>([
    ["tcp", "tcp"],
    ["http", "tcp"],
    ["udp", "udp"],
    ["icmp", "icmp_type=0"],
  ])("with a monitor of type %s: answers and refusals of the member, nothing else", (type, word) => {
    const mine = punted(withMember({}, type)).filter((m) => m.includes("nw_src=10.20.0.2,"));
    expect(mine).toHaveLength(2);
    expect(mine.filter((m) => m.includes(word))).toHaveLength(1);
    expect(mine.filter((m) => m.includes("icmp_type=3"))).toHaveLength(1);
    expect(mine.every((m) => m.includes("nw_dst=10.20.0.253"))).toBe(true);
  });
});
