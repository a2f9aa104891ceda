import fc from "fast-check";
import { expect, it } from "vitest";
import { optionNames } from "../../../controller/octavia/provider.ts";
import { toModel } from "../../../controller/octavia/to-model.ts";
import { parseIpv4 } from "../../../openflow/packet/address.ts";
import { compile } from "../../../pipeline/compile.ts";
import type { LoadBalancer } from "../../../pipeline/model.ts";
import { subnets, topology } from "../../support/octavia-app.ts";
import { type Json, newApi } from "./api.ts";

/** A load balancer as the topology file gives it. */
const ofTheFile: LoadBalancer = {
  id: 1,
  name: "file",
  uuid: "file",
  adminUp: true,
  vips: [{ ip: parseIpv4("10.20.0.103")!, segment: 2 }],
  listeners: [],
  pools: [],
};
const defaults = { slotChoice: "multipath", sessions: "conntrack", emptyPolicy: "drop", slots: 64 } as const;

const host = fc.constantFrom("10.20.0.101", "10.20.0.102", "10.20.0.103", "10.20.0.1", "10.20.0.253", "10.20.0.9");
const any = fc.nat({ max: 3 });
const port = fc.integer({ min: 80, max: 82 });
const protocol = fc.constantFrom("TCP", "UDP");
const onOff = fc.boolean();
/** Few values, so that they meet often. */
const step = fc.oneof(
  fc.record({ do: fc.constant("lb" as const), ip: host, more: fc.array(host, { maxLength: 2 }) }),
  fc.record({
    do: fc.constant("listener" as const),
    lb: any,
    port,
    protocol,
    limit: fc.integer({ min: -1, max: 2 }),
    silence: fc.constantFrom(0, 1, 50_000, 60_000),
    from: fc.array(fc.constantFrom("10.0.0.0/8", "10.1.2.3/8", "10.0.0.0/9", "0.0.0.0/0", "10.0.0.7"), {
      maxLength: 3,
    }),
    pool: fc.option(any),
  }),
  fc.record({ do: fc.constant("pool" as const), lb: any, protocol, sticky: onOff }),
  fc.record({ do: fc.constant("member" as const), pool: any, ip: host, port, weight: fc.constantFrom(0, 1, 256) }),
  fc.record({
    do: fc.constant("switch" as const),
    kind: fc.constantFrom("loadbalancer", "listener", "pool"),
    at: any,
    up: onOff,
  }),
  fc.record({ do: fc.constant("delete" as const), kind: fc.constantFrom("loadbalancer", "listener", "pool"), at: any }),
);

/** What every run begins with. */
const always = [
  { do: "lb", ip: "10.20.0.101", more: ["10.20.0.102"] },
  { do: "pool", lb: 0, protocol: "TCP", sticky: false },
  { do: "member", pool: 0, ip: "10.20.0.9", port: 80, weight: 1 },
] as const;

it("whatever the API accepts compiles, beside what the file has", async () => {
  const seen = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
      const base = { ...topology(), loadBalancers: [ofTheFile] };
      const api = await newApi({ topology: base, options: new Set(optionNames) });
      const made: Record<string, string[]> = { loadbalancer: [], listener: [], pool: [] };
      const nth = (kind: string, n: number): string =>
        made[kind]![n % made[kind]!.length] ?? "00000000-0000-4000-8000-000000000000";
      const post = async (kind: string, body: Json): Promise<void> => {
        const answer = await api.call("POST", `${kind}s`, { [kind]: body });
        if (answer.status === 201) made[kind]!.push(answer.body[kind].id);
        expect([201, 400, 404, 409]).toContain(answer.status);
        seen[answer.status === 201 ? "accepted" : "refused"]++;
      };
      for (const s of [...always, ...steps]) {
        if (s.do === "lb") {
          const additional = s.more.map((ip) => ({ subnet_id: subnets.back, ip_address: ip }));
          await post("loadbalancer", { vip_subnet_id: subnets.back, vip_address: s.ip, additional_vips: additional });
        } else if (s.do === "listener") {
          await post("listener", {
            loadbalancer_id: nth("loadbalancer", s.lb),
            protocol: s.protocol,
            protocol_port: s.port,
            connection_limit: s.limit,
            timeout_client_data: s.silence,
            allowed_cidrs: s.from,
            ...(s.pool === null ? {} : { default_pool_id: nth("pool", s.pool) }),
          });
        } else if (s.do === "pool") {
          const lb_algorithm = s.sticky ? "SOURCE_IP" : "LEAST_CONNECTIONS";
          await post("pool", { loadbalancer_id: nth("loadbalancer", s.lb), protocol: s.protocol, lb_algorithm });
        } else if (s.do === "member") {
          const member = { address: s.ip, protocol_port: s.port, weight: s.weight };
          await api.call("POST", `pools/${nth("pool", s.pool)}/members`, { member });
        } else if (s.do === "switch") {
          await api.call("PUT", `${s.kind}s/${nth(s.kind, s.at)}`, { [s.kind]: { admin_state_up: s.up } });
        } else {
          await api.call("DELETE", `${s.kind}s/${nth(s.kind, s.at)}?cascade=true`);
        }
      }
      const { loadBalancers, problems } = toModel(api.world.store.read(), base, defaults);
      expect(problems).toEqual([]);
      const state = { ...base, loadBalancers: [ofTheFile, ...loadBalancers] };
      compile({ ...state, node: base.nodes[0]!, ports: [], neighbours: [], health: new Map() });
    }),
    { numRuns: 60 },
  );
  expect(seen.accepted).toBeGreaterThan(50);
  expect(seen.refused).toBeGreaterThan(50);
});
