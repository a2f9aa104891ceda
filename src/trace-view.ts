import { BadRequest } from "../controller/api/refusals.ts";
import type { TraceQuestion } from "../controller/api/trace.ts";
import type { TraceOutputView, TracePuntView, TraceStepView, TraceView } from "../controller/api/trace-views.ts";
import { flowText } from "../controller/flow-text.ts";
import type { NodeController } from "../controller/node.ts";
import type { ObservedFlow } from "../controller/reconcile/observe.ts";
import { traceArgument } from "../controller/switch-trace.ts";
import { type FieldName, fieldByName } from "../openflow/fields.ts";
import type { OxmField } from "../openflow/match.ts";
import { parseIpv4 } from "../openflow/packet/address.ts";
import { CT_STATES, formatFlags, parseFlags } from "../openflow/text/flags.ts";
import { formatMatch } from "../openflow/text/match.ts";
import { ParseError } from "../openflow/text/parse-error.ts";
import { parseMatch } from "../openflow/text/parse-match.ts";
import { formatValue } from "../openflow/text/value.ts";
import { compile } from "../pipeline/compile.ts";
import { isLearned } from "../pipeline/cookies.ts";
import { CtState } from "../pipeline/ct-state.ts";
import { type Explanation, explainer } from "../pipeline/explain.ts";
import { ipText } from "../pipeline/format.ts";
import type { DesiredState } from "../pipeline/model.ts";
import { puntClasses, puntOf } from "../pipeline/punt.ts";
import { assumePacket, type Question, QuestionError } from "../pipeline/simulate/assume.ts";
import { answering, type Conntrack, knownConnections, newConnections } from "../pipeline/simulate/conntrack.ts";
import { exactMatch, type PacketFields, stateOf } from "../pipeline/simulate/packet.ts";
import { answerTo } from "../pipeline/simulate/reply.ts";
import type { SimulatedFlow } from "../pipeline/simulate/tables.ts";
import type { Output, Punt, Step } from "../pipeline/simulate/trace.ts";
import { simulator } from "../pipeline/simulate.ts";
import { T, tableById } from "../pipeline/tables.ts";

const DEFAULTS = { sport: 40_000, ttl: 64 } as const;

/** The way of one packet through a node's wanted flows and those that its switch has learned. */
export async function traceView(nodes: readonly NodeController[], asked: TraceQuestion): Promise<TraceView> {
  const node = nodeOf(nodes, asked.node);
  const learned = await learnedFlows(node);
  const state = node.desired();
  const program = compile(state);
  const simulate = simulator<SimulatedFlow>([...program.flows, ...learned.flows], program.groups);
  const first = packetOf(state, learned.flows, asked);
  const assumptions = [...learned.assumptions, ...first.assumptions];
  const states = (asked.state ?? []).map(ctState);
  let { packet } = first;
  let conntrack: Conntrack = states.length > 0 ? answering(states) : newConnections;
  if (asked.reply) {
    const {
      outputs: [output],
      connections,
    } = simulate(packet, conntrack);
    if (output === undefined) throw new BadRequest("reply: the packet reaches nobody who could answer");
    packet = answerTo(output);
    conntrack = knownConnections(connections);
  }
  const trace = simulate(packet, conntrack);
  const explain = explainer(state, program);
  const names = namesOf(state);
  return {
    node: node.node.name,
    packet: formatMatch(exactMatch(stateOf(packet))),
    switchArguments: [
      traceArgument(packet),
      ...states.flatMap((s) => ["--ct-next", formatFlags(s, CT_STATES).replaceAll("|", ",")]),
    ],
    assumptions,
    passes: trace.passes.map((pass) => ({
      from: pass.from,
      conntrack: pass.conntrack ?? null,
      steps: pass.steps.map((step) => stepView(step, explain, names)),
      final: formatMatch(exactMatch(stateOf(pass.final))),
    })),
    outputs: trace.outputs.map((o) => outputView(o, packet, state)),
    punts: trace.punts.map(puntView),
    learned: trace.learned.map((f) => `${flowText(f)} (kept ${f.hardTimeout || f.idleTimeout} s)`),
    dropped:
      trace.dropped === undefined ? null : droppedText(trace.dropped, trace.passes.at(-1)?.steps.at(-1), explain),
    unknown: trace.unknown,
  };
}

function nodeOf(nodes: readonly NodeController[], name: string | undefined): NodeController {
  const found = name === undefined ? nodes[0] : nodes.find((n) => n.node.name === name);
  if (found) return found;
  throw new BadRequest(`node: there is no node "${name ?? ""}" (nodes: ${nodes.map((n) => n.node.name).join(", ")})`);
}

async function learnedFlows(
  n: NodeController,
): Promise<{ readonly flows: readonly ObservedFlow[]; readonly assumptions: readonly string[] }> {
  if (!n.session) return { flows: [], assumptions: ["The switch is not connected: nothing is taken to be learned."] };
  const dumps = await Promise.all([n.dump(T.adjacency), n.dump(T.fdb)]);
  return { flows: dumps.flat().filter((f) => isLearned(f.cookie)), assumptions: [] };
}

function packetOf(state: DesiredState, learned: readonly SimulatedFlow[], asked: TraceQuestion) {
  try {
    if (asked.packet !== undefined) return { packet: exactPacket(asked.packet, state), assumptions: [] };
    return assumePacket(state, learned, questionOf(asked));
  } catch (e) {
    if (e instanceof QuestionError || e instanceof ParseError) throw new BadRequest(e.message);
    throw e;
  }
}

/** A packet in the words of a match; ports may be given by name. */
function exactPacket(text: string, state: DesiredState): PacketFields {
  const ofport = new Map(state.ports.map((p) => [p.name, p.ofport]));
  const numbered = text.replace(/\bin_port=([^,\s]+)/, (whole, name: string) => {
    const found = ofport.get(name.replaceAll('"', ""));
    return found === undefined ? whole : `in_port=${found}`;
  });
  const fields = parseMatch(numbered) as readonly OxmField[];
  const masked = fields.find((f) => f.mask !== undefined);
  if (masked) throw new QuestionError(`packet: ${masked.field} has a mask, but a packet has every bit`);
  return Object.fromEntries(fields.map((f) => [f.field, f.value]));
}

function questionOf(asked: TraceQuestion): Question {
  const { src, dst, dport } = asked;
  if (src === undefined || dst === undefined) throw new QuestionError("say src and dst, or packet");
  const proto = asked.proto ?? (dport === undefined ? "icmp" : "tcp");
  if (proto !== "icmp" && dport === undefined) throw new QuestionError(`dport: ${proto} needs a port to send to`);
  return {
    src: addressOf("src", src),
    dst: addressOf("dst", dst),
    proto,
    srcPort: asked.sport ?? DEFAULTS.sport,
    dstPort: dport ?? 0,
    ttl: asked.ttl ?? DEFAULTS.ttl,
    ...(asked.segment === undefined ? {} : { segment: asked.segment }),
    ...(asked.port === undefined ? {} : { port: asked.port }),
  };
}

function addressOf(name: string, text: string): number {
  const address = parseIpv4(text);
  if (address !== undefined) return address;
  throw new QuestionError(`${name}: "${text}" is no IPv4 address`);
}

const ALL_STATES = 0xff;

function ctState(text: string): number {
  const flags = parseFlags(text.replaceAll(",", "|"), CT_STATES, ALL_STATES);
  if (flags === undefined || flags.mask !== undefined) {
    throw new BadRequest(`state: "${text}" is not made of ${CT_STATES.join(", ")}`);
  }
  // Open vSwitch knows no other state of a packet that was not tracked.
  return flags.value === 0 ? 0 : flags.value | CtState.tracked;
}

/** What a register's value stands for; undefined where the number is all there is. */
type Names = (register: string, value: number) => string | undefined;

function namesOf(s: DesiredState): Names {
  const pools = s.loadBalancers.flatMap((lb) => lb.pools);
  const by = <X extends { readonly id: number; readonly name: string }>(all: readonly X[], kind: string) => {
    const found = new Map(all.map((x) => [x.id, x.name]));
    return (id: number): string | undefined => (found.has(id) ? `${kind} ${found.get(id)}` : undefined);
  };
  const segment = by(s.segments, "segment");
  const meaning: Readonly<Record<string, (value: number) => string | undefined>> = {
    reg0: segment,
    reg1: (slot) => `slot ${slot}`,
    reg2: by(
      pools.flatMap((p) => p.members),
      "member",
    ),
    reg3: by(pools, "pool"),
    reg4: by(
      s.loadBalancers.flatMap((lb) => lb.listeners),
      "listener",
    ),
    reg5: (ip) => `next hop ${ipText(ip)}`,
    reg7: (id) => segment(id) && `to ${segment(id)}`,
  };
  return (register, value) => meaning[register]?.(value);
}

function stepView(
  { tableId, depth, flow, notes, registers }: Step<SimulatedFlow>,
  explain: (f: SimulatedFlow) => Explanation,
  names: Names,
): TraceStepView {
  const common = {
    table: tableId,
    tableName: tableById(tableId)?.name ?? "unknown",
    depth,
    notes,
    registers: Object.fromEntries(
      Object.entries(registers).map(([r, value]) => {
        const name = names(r, Number(value));
        return [r, name === undefined ? String(value) : `${value} (${name})`];
      }),
    ),
  };
  if (flow === undefined) {
    return { ...common, flow: null, cookie: "0x0", feature: "", object: "", why: "No flow matches: dropped." };
  }
  const { feature, object, why } = explain(flow);
  return { ...common, flow: flowText(flow), cookie: `0x${flow.cookie.toString(16)}`, feature, object, why };
}

const INTERNAL = /^(reg\d+|metadata|ct_\w+|in_port)$/;

function outputView({ port, fields }: Output, came: PacketFields, state: DesiredState): TraceOutputView {
  const headers = Object.entries(fields).filter(([name]) => !INTERNAL.test(name));
  const before = came as Readonly<Record<string, number | bigint>>;
  const changed = headers.filter(([name, value]) => BigInt(before[name] ?? 0) !== BigInt(value));
  return {
    port: state.ports.find((p) => p.ofport === port)?.name ?? String(port),
    ofport: port,
    packet: formatMatch(exactMatch(stateOf(Object.fromEntries(headers)))),
    changed: Object.fromEntries(changed.map(([name, value]) => [name, valueText(name as FieldName, value)])),
  };
}

const valueText = (name: FieldName, value: number | bigint): string => {
  const def = fieldByName(name);
  return def === undefined ? String(value) : formatValue(def, value);
};

function puntView({ userdata }: Punt): TracePuntView {
  const name = puntOf(userdata);
  return name === undefined
    ? { class: "other", purpose: "packets the switch sends by itself" }
    : { class: puntClasses[name].name, purpose: puntClasses[name].purpose };
}

/** The reason in the words of the flow that dropped, if it was one. */
function droppedText(
  reason: string,
  last: Step<SimulatedFlow> | undefined,
  explain: (f: SimulatedFlow) => Explanation,
): string {
  return last?.flow !== undefined && last.flow.instructions.length === 0 ? explain(last.flow).why : reason;
}
