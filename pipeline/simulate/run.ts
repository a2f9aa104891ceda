/** One packet's journey: tables, actions, and what each of them leaves behind (ovs-actions(7)). */
import type { Action } from "../../openflow/action-values.ts";
import type { Controller, Ct, Nat } from "../../openflow/action-values-nx.ts";
import { actions as actionTexts } from "../../openflow/actions.ts";
import { type FieldName, fieldByName } from "../../openflow/fields.ts";
import type { Instruction } from "../../openflow/instruction-values.ts";
import type { Subfield } from "../../openflow/subfield.ts";
import { formatSubfield } from "../../openflow/text/subfield.ts";
import { formatValue, hex } from "../../openflow/text/value.ts";
import { IN_PORT } from "../ports.ts";
import type { GroupSpec } from "../program.ts";
import { type Connection, type Conntrack, reversed } from "./conntrack.ts";
import { multipathLink } from "./hash.ts";
import { learnedFrom } from "./learn.ts";
import { fieldsOf, type PacketFields, type PacketState, readBits, readField, writeBits, writeField } from "./packet.ts";
import type { Lookup, SimulatedFlow } from "./tables.ts";
import type { LearnedFlow, Output, Pass, Punt, Step } from "./trace.ts";
import { tupleOf, tupleText, writeTuple } from "./tuple.ts";

const CONTROLLER = 0xffff_fffd;
/** Ports with a number of their own; beyond are those with a meaning. */
const MAX_PORT = 0xff00;
const LOCAL = 0xffff_fffe;
/** Resubmits deep, and tables passed, at which Open vSwitch gives up (ovs-actions(7), "resubmit"). */
const MAX_DEPTH = 64;
const MAX_STEPS = 4096;
/** OFPGT_ALL and OFPGT_INDIRECT. */
const GROUP_ALL = 0;
const GROUP_INDIRECT = 2;

/** What is the same for all passes of a packet. */
export interface Journey<F> {
  readonly lookup: Lookup<F>;
  readonly groups: ReadonlyMap<number, GroupSpec>;
  readonly conntrack: Conntrack;
  readonly outputs: Output[];
  readonly punts: Punt[];
  readonly learned: LearnedFlow[];
  readonly connections: Connection[];
  readonly unknown: string[];
  /** Why copies came to nothing, in order; the last one explains a drop. */
  readonly ends: string[];
  /** Packets that conntrack hands back, first come, first served. */
  readonly waiting: {
    readonly table: number;
    readonly state: PacketState;
    readonly stack: bigint[];
    readonly conntrack: string;
  }[];
  tracked: number;
  tablesPassed: number;
}

/** A step while its actions run. */
interface OpenStep {
  readonly tableId: number;
  readonly notes: string[];
}

/** Whether actions after this one still run. */
type Flow = "on" | "stop";

const REGISTERS: readonly FieldName[] = Array.from({ length: 16 }, (_, i) => `reg${i}` as FieldName);

const registersOf = (state: PacketState): PacketFields =>
  Object.fromEntries(REGISTERS.flatMap((r) => (readField(state, r) === 0n ? [] : [[r, Number(readField(state, r))]])));

const isNow = (state: PacketState, dst: Subfield): string => {
  const def = fieldByName(dst.field);
  const value = readBits(state, dst);
  const whole = def !== undefined && dst.ofs === 0 && dst.nBits === def.bits;
  return `${formatSubfield(dst)} is now ${whole ? formatValue(def, def.big ? value : Number(value)) : hex(value)}`;
};

const CT_FIELDS: readonly FieldName[] = ["ct_state", "ct_zone", "ct_mark", "ct_label"];

/** Runs a packet from `table` to the end of its pass; what goes to conntrack waits in the journey. */
export function runPass<F extends SimulatedFlow>(
  journey: Journey<F>,
  table: number,
  state: PacketState,
  stack: bigint[],
  conntrack?: string,
): Pass<F> {
  const steps: Step<F>[] = [];
  let exited = false;

  const send = (to: number, step: OpenStep): void => {
    const inPort = Number(readField(state, "in_port_oxm"));
    const port = to === IN_PORT ? inPort : to;
    if (port === CONTROLLER) {
      journey.punts.push({ userdata: Buffer.alloc(0), meterId: undefined, fields: fieldsOf(state) });
    } else if (port >= MAX_PORT && port !== LOCAL) {
      notSimulated({ kind: "output", port, maxLen: 0 }, step);
    } else if (to === inPort) {
      step.notes.push(`not sent to port ${port}: the packet came from there`);
      journey.ends.push(`Port ${port} is where the packet came from, and a switch does not send it back.`);
    } else {
      journey.outputs.push({ port, fields: fieldsOf(state) });
    }
  };

  const notSimulated = (action: Action, step: OpenStep): void => {
    const text = actionTexts.text(action);
    step.notes.push(`${text} is not simulated`);
    journey.unknown.push(text);
  };

  const punt = (action: Controller): void => {
    const { userdata = Buffer.alloc(0), meterId } = action;
    journey.punts.push({ userdata, meterId, fields: fieldsOf(state) });
  };

  /** Later actions and tables of a copy do not touch the packet itself. */
  const onCopy = (run: () => void): void => {
    const before = new Map(state);
    const stackBefore = [...stack];
    run();
    state.clear();
    for (const [slot, value] of before) state.set(slot, value);
    stack.splice(0, stack.length, ...stackBefore);
  };

  const group = (groupId: number, step: OpenStep, depth: number): void => {
    const found = journey.groups.get(groupId);
    if (found === undefined || (found.groupType !== GROUP_ALL && found.groupType !== GROUP_INDIRECT)) {
      notSimulated({ kind: "group", groupId }, step);
      return;
    }
    if (found.buckets.length === 0) journey.ends.push(`Group ${groupId} has no ports.`);
    for (const bucket of found.buckets) onCopy(() => void runActions(bucket.actions, step, depth));
  };

  const track = (action: Ct, step: OpenStep): void => {
    const nat = action.actions.find((a): a is Nat => a.kind === "nat");
    const zone = typeof action.zone === "number" ? action.zone : Number(readBits(state, action.zone));
    const tuple = tupleOf(state);
    const proto = Number(readField(state, "nw_proto"));
    for (const field of CT_FIELDS) writeField(state, field, 0n);
    if (action.table === undefined) return;
    const copy = new Map(state);
    const answer = journey.conntrack({
      zone,
      proto,
      tuple,
      commit: action.commit,
      index: journey.tracked,
      ...(nat === undefined ? {} : { nat }),
    });
    journey.tracked++;
    if (action.commit) journey.connections.push({ zone, proto, original: tuple, reply: reversed(answer.tuple) });
    writeField(copy, "ct_state", BigInt(answer.state));
    writeField(copy, "ct_zone", BigInt(zone));
    writeTuple(copy, answer.tuple);
    for (const write of action.actions) {
      if (write.kind === "load") writeBits(copy, write.dst, write.value);
      else if (write.kind === "set_field") setField(copy, write.field, BigInt(write.value), write.mask);
      else if (write.kind !== "nat") notSimulated(write, step);
    }
    const after = tupleOf(copy);
    const moved = tupleText(tuple) === tupleText(after) ? "" : `; ${tupleText(tuple)} becomes ${tupleText(after)}`;
    const said = `${answer.because}${moved}`;
    step.notes.push(`conntrack zone ${zone}: ${said}; goes on in table ${action.table}`);
    journey.waiting.push({ table: action.table, state: copy, stack: [...stack], conntrack: said });
  };

  const decTtl = (step: OpenStep): Flow => {
    const ttl = readField(state, "nw_ttl");
    if (ttl > 1n) {
      writeField(state, "nw_ttl", ttl - 1n);
      return "on";
    }
    step.notes.push("the TTL ends here");
    journey.punts.push({ userdata: Buffer.alloc(0), meterId: undefined, fields: fieldsOf(state) });
    return "stop";
  };

  const runAction = (action: Action, step: OpenStep, depth: number): Flow => {
    switch (action.kind) {
      case "output":
        send(action.port, step);
        return "on";
      case "group":
        group(action.groupId, step, depth);
        return "on";
      case "set_field":
        setField(state, action.field, BigInt(action.value), action.mask);
        return "on";
      case "load":
        writeBits(state, action.dst, action.value);
        return "on";
      case "move":
        writeBits(state, action.dst, readBits(state, action.src));
        step.notes.push(isNow(state, action.dst));
        return "on";
      case "push":
        stack.push(readBits(state, action.src));
        return "on";
      case "pop":
        // An empty stack leaves the field alone.
        if (stack.length > 0) writeBits(state, action.dst, stack.pop()!);
        step.notes.push(isNow(state, action.dst));
        return "on";
      case "multipath":
        writeBits(state, action.dst, BigInt(multipathLink(state, action)));
        step.notes.push(isNow(state, action.dst));
        return "on";
      case "dec_ttl":
        return decTtl(step);
      case "mod_nw_ttl":
        writeField(state, "nw_ttl", BigInt(action.ttl));
        return "on";
      case "controller":
        punt(action);
        return "on";
      case "learn":
        journey.learned.push(learnedFrom(action, state));
        // There is room: how many there are is the switch's to know.
        if (action.resultDst !== undefined) writeBits(state, action.resultDst, 1n);
        return "on";
      case "ct":
        track(action, step);
        return "on";
      case "ct_clear":
        for (const field of CT_FIELDS) writeField(state, field, 0n);
        return "on";
      case "clone":
        onCopy(() => void runActions(action.actions, step, depth));
        return "on";
      case "resubmit":
        resubmit(action.inPort, action.table === 0xff ? step.tableId : action.table, depth, step);
        return "on";
      case "write_metadata":
        setField(state, "metadata", action.metadata & action.mask, action.mask);
        return "on";
      case "note":
      case "conjunction":
      case "fin_timeout":
      case "sample":
        return "on";
      case "exit":
        exited = true;
        return "stop";
      default:
        notSimulated(action, step);
        return "on";
    }
  };

  const runActions = (list: readonly Action[], step: OpenStep, depth: number): Flow => {
    for (const action of list) if (runAction(action, step, depth) === "stop" || exited) return "stop";
    return "on";
  };

  const resubmit = (inPort: number, tableId: number, depth: number, step: OpenStep): void => {
    if (depth >= MAX_DEPTH) {
      step.notes.push(`resubmits are ${MAX_DEPTH} deep: the switch gives up`);
      journey.ends.push("Too many resubmits.");
      exited = true;
      return;
    }
    visit(tableId, depth + 1, inPort === IN_PORT ? undefined : inPort);
  };

  /** Runs instructions in the order that OF1.3.5 §5.9 fixes; gives the table of goto_table. */
  const runInstructions = (list: readonly Instruction[], step: OpenStep, depth: number): number | undefined => {
    for (const i of list) {
      if (i.kind === "write_actions" || i.kind === "unknown") {
        step.notes.push(`${i.kind} is not simulated`);
        journey.unknown.push(i.kind);
      }
      if (i.kind === "apply_actions" && runActions(i.actions, step, depth) === "stop") return undefined;
    }
    for (const i of list) if (i.kind === "write_metadata") setField(state, "metadata", i.metadata, i.mask);
    return list.find((i) => i.kind === "goto_table")?.tableId;
  };

  /** Another ingress port counts for the first look-up only: outputs go by where the packet really came from. */
  const find = (tableId: number, as: number | undefined): F | undefined => {
    if (as === undefined) return journey.lookup(tableId, state);
    const seen = new Map(state);
    writeField(seen, "in_port_oxm", BigInt(as));
    return journey.lookup(tableId, seen);
  };

  const visit = (first: number, depth: number, inPort?: number): void => {
    let as = inPort;
    for (let next: number | undefined = first; next !== undefined && !exited; ) {
      const tableId: number = next;
      if (++journey.tablesPassed > MAX_STEPS) {
        journey.ends.push("Too many tables.");
        exited = true;
        return;
      }
      const flow = find(tableId, as);
      as = undefined;
      const notes: string[] = [];
      const at = steps.length;
      steps.push({ tableId, depth, flow, notes, registers: {} });
      next = flow && runInstructions(flow.instructions, { tableId, notes }, depth);
      steps[at] = { tableId, depth, flow, notes, registers: registersOf(state) };
    }
  };

  visit(table, 0);
  return { from: table, steps, final: fieldsOf(state), ...(conntrack === undefined ? {} : { conntrack }) };
}

function setField(state: PacketState, field: FieldName, value: bigint, mask?: number | bigint): void {
  const keep = mask === undefined ? 0n : readField(state, field) & ~BigInt(mask);
  writeField(state, field, keep | value);
}
