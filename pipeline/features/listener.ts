import type { Action } from "../../openflow/action-values.ts";
import { bits, load, move, multipath, resubmit } from "../../openflow/build.ts";
import { type Service, services } from "../addresses.ts";
import { type FlowSpec, flowBuilder } from "../flow.ts";
import { ipText } from "../format.ts";
import { ip, type MatchRecord, prefix, toPort } from "../match.ts";
import type { Listener, Pool, Protocol, SlotChoice } from "../model.ts";
import { punt } from "../punt.ts";
import { flagCounted, regListener, regPool, regSlot } from "../registers.ts";
import { T } from "../tables.ts";
import { entriesOf, isCounted } from "./connections.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("listener");

/** Basis of the hash; a constant, so that all nodes choose alike. */
const HASH_BASIS = 1024;

type HashFields = "nw_src" | "symmetric_l4" | "symmetric_l3l4+udp";

/** `symmetric_l4` leaves UDP ports out, so UDP needs the other hash; affinity looks at the client's address alone. */
const hashFields = (protocol: Protocol, pool: Pool): HashFields => {
  if (pool.affinity === "source-ip") return "nw_src";
  return protocol === "tcp" ? "symmetric_l4" : "symmetric_l3l4+udp";
};

/** Bits of a slot number; pools have a power of two of them. */
const slotBits = (pool: Pool): number => 31 - Math.clz32(pool.slots);

/** Chooses a slot of the pool (reg1) by a hash. */
export const slotByHash = (fields: HashFields, pool: Pool): Action =>
  multipath({ fields, basis: HASH_BASIS, links: pool.slots, dst: bits(regSlot.field, 0, slotBits(pool)) });

/**
 * Half of the slot number from the client's port, half from its address: the megaflow then covers all connections that share these
 * bits. Bit 0 of the port is left out, since Linux hands out even ports to connect() first.
 */
const byBits = (protocol: Protocol, pool: Pool): readonly Action[] => {
  const width = slotBits(pool);
  const fromPort = Math.ceil(width / 2);
  return [
    move(bits(protocol === "tcp" ? "tcp_src" : "udp_src", 1, fromPort), bits(regSlot.field, 0, fromPort)),
    move(bits("ip_src", 0, width - fromPort), bits(regSlot.field, fromPort, width - fromPort)),
  ];
};

const chooseSlot = (choice: SlotChoice, protocol: Protocol, pool: Pool): readonly Action[] =>
  // Copied bits hold some of the port, so that they cannot keep a client on its slot.
  choice === "bits" && pool.affinity === undefined
    ? byBits(protocol, pool)
    : [slotByHash(hashFields(protocol, pool), pool)];

/** Table 10: connections to this listener, from the sources it allows. */
function* serve(service: Service): Generator<FlowSpec> {
  const { vip, listener } = service;
  if (listener.allowedSources === undefined) {
    yield* serveFrom(service, 100, {});
    return;
  }
  for (const source of listener.allowedSources)
    yield* serveFrom(service, 100 + source.length, { ip_src: prefix(source) });
  yield flow({
    table: T.listeners,
    priority: 99,
    match: { ...toPort(listener.protocol, listener.port), ip_dst: vip.ip },
    object: { kind: "listener", id: listener.id },
    why: `Listener ${listener.name} on ${ipText(vip.ip)}:${listener.port} does not allow this source.`,
  });
}

/** Table 11: what a counted listener does not let in. */
const full = (listener: Listener): FlowSpec =>
  flow({
    table: T.slots,
    priority: 200,
    match: { ...ip, reg4: listener.id, reg6: { value: 0, mask: 1 << flagCounted.ofs } },
    object: { kind: "listener", id: listener.id },
    why: `Listener ${listener.name} is full, or the connection was silent for too long: dropped.`,
  });

function* serveFrom(service: Service, lowest: number, source: MatchRecord): Generator<FlowSpec> {
  for (const { above, match, actions } of entriesOf(service))
    yield serveEntry(service, lowest + above, { ...source, ...match }, actions);
}

const serveEntry = (
  { vip, listener, pool }: Service,
  priority: number,
  extra: MatchRecord,
  before: readonly Action[],
): FlowSpec => {
  const common = {
    table: T.listeners,
    priority,
    match: { ...toPort(listener.protocol, listener.port), ip_dst: vip.ip, ...extra },
    object: { kind: "listener", id: listener.id },
  } as const;
  const place = `${ipText(vip.ip)}:${listener.port}`;
  if (pool === undefined) {
    const actions = listener.emptyPolicy === "reject" ? [punt("reject")] : [];
    return flow({ ...common, actions, why: `Listener ${listener.name} on ${place} has no pool.` });
  }
  return flow({
    ...common,
    actions: [
      ...before,
      load(listener.id, regListener),
      load(pool.id, regPool),
      ...chooseSlot(listener.slotChoice, listener.protocol, pool),
    ],
    goto: T.slots,
    why: `Listener ${listener.name} on ${place} chooses a slot of pool ${pool.name}.`,
  });
};

/** Whether the chosen member may be a neighbour of the client, where no hop is counted. */
export const mayStayInSegment = ({ segment, pool }: Service): boolean =>
  pool?.members.some((m) => m.segment === segment.id) ?? false;

/** Tables 1 and 15: connections to this listener, from its own segment and from others. */
function* arrive(service: Service): Generator<FlowSpec> {
  const { vip, segment, listener, up } = service;
  const object = { kind: "listener", id: listener.id } as const;
  const match = { ...toPort(listener.protocol, listener.port), ip_dst: vip.ip };
  const here = { ...match, reg0: segment.id, eth_dst: segment.gateway.mac };
  const place = `${ipText(vip.ip)}:${listener.port}`;
  if (!up) {
    const why = `Listener ${listener.name} on ${place} is switched off.`;
    yield flow({ table: T.classify, priority: 140, match: here, object, why });
    yield flow({ table: T.router, priority: 148, match, object, why });
    return;
  }
  yield flow({
    table: T.classify,
    priority: mayStayInSegment(service) ? 140 : 130,
    match: here,
    goto: T.listeners,
    object,
    why: `Connections to listener ${listener.name} on ${place}.`,
  });
  yield flow({
    table: T.router,
    priority: 140,
    match,
    actions: [resubmit({ table: T.listeners })],
    object,
    why: `Connections to listener ${listener.name} on ${place} from another segment.`,
  });
}

/** The way to the listeners, and the listeners themselves. */
export const listener: Feature = {
  name: "listener",
  *flows(s) {
    for (const service of services(s).filter((v) => v.loadBalancer.adminUp)) {
      yield* arrive(service);
      if (service.up) yield* serve(service);
    }
    const up = new Set(services(s).flatMap((v) => (v.up ? [v.listener] : [])));
    for (const listener of up) if (isCounted(listener)) yield full(listener);
    yield flow({ table: T.listeners, priority: 0, why: "No listener takes this." });
    yield flow({ table: T.connections, priority: 0, why: "No connection that is counted." });
  },
};
