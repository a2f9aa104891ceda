/** Reads actions and instructions in the text of ovs-ofctl (ovs-actions(7)), as OpenFlow 1.3 carries them. */
import type { Action } from "../action-values.ts";
import { checkList, type Outer, orderOf } from "../check.ts";
import type { DecodeError } from "../errors.ts";
import type { Instruction } from "../instruction-values.ts";
import { modern } from "../legacy.ts";
import { parseIpv4, parseMac } from "./address.ts";
import { isOutputPort } from "./output.ts";
import { parseCt, parseNat } from "./parse-ct.ts";
import { ParseError } from "./parse-error.ts";
import { parseLearn } from "./parse-learn.ts";
import * as nx from "./parse-nx.ts";
import * as fields from "./parse-set.ts";
import { formatPort, parsePort } from "./ports.ts";
import { bigInteger, hexBytes, integer, type KeyValue, type Piece, scan, split } from "./scan.ts";

/** What the flow's match says, as far as the meaning of old words depends on it. */
export interface ActionContext {
  /** IP protocol that the flow matches: mod_tp_src is tcp_src, udp_src or sctp_src. */
  readonly ipProto?: number;
  /** Whether the flow matches tagged packets: else mod_vlan_vid pushes a tag first. */
  readonly tagged?: boolean;
}

interface State extends ActionContext {
  tagged: boolean;
  readonly depth: number;
}

const MOST_DEPTH = 100;
const CONTROLLER = 0xfffffffd;
const WHOLE_PACKET = 0xffff;
const VLAN = 0x8100;

type Parse = (arg: Piece, state: State) => Action | readonly Action[];

const u8 = (a: Piece, what: string): number => integer(a, 8, what);
const u16 = (a: Piece, what: string): number => integer(a, 16, what);
const u32 = (a: Piece, what: string): number => integer(a, 32, what);

function within(n: number, most: number, arg: Piece): number {
  if (n > most) throw new ParseError(arg.column, `${n} is more than ${most}`, []);
  return n;
}

function address(arg: Piece, parse: (text: string) => number | undefined, shape: string): number {
  const n = parse(arg.text);
  if (n === undefined) throw new ParseError(arg.column, `"${arg.text}" is not an address`, [shape]);
  return n;
}
const mac = (a: Piece): number => address(a, parseMac, "xx:xx:xx:xx:xx:xx");
const ipv4 = (a: Piece): number => address(a, parseIpv4, "A.B.C.D");

function etherType(arg: Piece, possible: readonly number[]): number {
  const n = u16(arg, "an Ethertype");
  if (!possible.includes(n)) {
    throw new ParseError(
      arg.column,
      `${arg.text} is no Ethertype for this`,
      possible.map((t) => `0x${t.toString(16)}`),
    );
  }
  return n;
}

/** A tag is pushed first where the packet may have none. */
function onTag(state: State, action: Action): readonly Action[] {
  const { tagged } = state;
  state.tagged = true;
  return tagged ? [action] : [{ kind: "push_vlan", etherType: VLAN }, action];
}

function outputPort(port: number, column: number): number {
  if (!isOutputPort(port)) throw new ParseError(column, `there is no output to ${formatPort(port)}`, []);
  return port;
}

function output(arg: Piece): Action {
  if (/port/.test(arg.text) && /max_len/.test(arg.text)) return outputTrunc(arg);
  const port = parsePort(arg.text);
  if (port !== undefined) {
    outputPort(port, arg.column);
    return { kind: "output", port, maxLen: port === CONTROLLER ? WHOLE_PACKET : 0 };
  }
  if (/[[\]]|^[a-z_]+[a-z_0-9]*$/i.test(arg.text)) {
    return { kind: "output_reg", src: fields.subfield(arg), maxLen: WHOLE_PACKET };
  }
  throw new ParseError(arg.column, `"${arg.text}" is not a port`, ["NUMBER", "NAME", "FIELD[]", "(port=N,max_len=N)"]);
}

function outputTrunc(arg: Piece): Action {
  let port = 0;
  let maxLen = 0;
  for (const { key, value, column } of scan(arg)) {
    if (key === "port") port = nx.port(value);
    else if (key === "max_len") maxLen = u32(value, key);
    else throw new ParseError(column, `output has no argument "${key}"`, ["port=PORT", "max_len=N"]);
  }
  if (maxLen < 14) throw new ParseError(arg.column, "a truncated frame has at least 14 bytes", ["max_len=14 …"]);
  return { kind: "output_trunc", port, maxLen };
}

function enqueue(arg: Piece): readonly Action[] {
  const m = /^([^:,q]+)[:,q](.+)$/.exec(arg.text);
  if (!m) throw new ParseError(arg.column, "a port and a queue are wanted", ["PORT:QUEUE", "(PORT,QUEUE)"]);
  const [, portText = "", queueText = ""] = m;
  const port = nx.port({ text: portText, column: arg.column });
  const queueId = u32({ text: queueText, column: arg.column + portText.length + 1 }, "the queue");
  return [{ kind: "set_queue", queueId }, { kind: "output", port, maxLen: WHOLE_PACKET }, { kind: "pop_queue" }];
}

const decTtl: Parse = (arg) => {
  const ids = split(arg).map((p) => u16(p, "a controller id"));
  return ids.length > 0 ? { kind: "dec_ttl", ids } : { kind: "dec_ttl" };
};

const plain =
  (kind: "dec_mpls_ttl" | "pop_queue" | "exit" | "ct_clear" | "dec_nsh_ttl" | "copy_ttl_in" | "copy_ttl_out"): Parse =>
  () => ({ kind });
const popVlan: Parse = (_arg, state) => {
  state.tagged = false;
  return { kind: "pop_vlan" };
};

const actionWords: Readonly<Record<string, Parse>> = {
  output,
  controller: nx.parseController,
  enqueue,
  group: (a) => ({ kind: "group", groupId: u32(a, "the group") }),
  set_queue: (a) => ({ kind: "set_queue", queueId: u32(a, "the queue") }),
  pop_queue: plain("pop_queue"),
  bundle: (a) => nx.parseBundle(a, false),
  bundle_load: (a) => nx.parseBundle(a, true),
  set_field: fields.setField,
  load: fields.load,
  move: (a) => ({ kind: "move", ...fields.move(a) }),
  push: (a) => ({ kind: "push", src: fields.subfield(a) }),
  pop: (a) => ({ kind: "pop", dst: fields.target(a) }),
  mod_dl_src: (a) => ({ kind: "mod_dl_src", address: mac(a) }),
  mod_dl_dst: (a) => ({ kind: "mod_dl_dst", address: mac(a) }),
  mod_nw_src: (a) => ({ kind: "mod_nw_src", address: ipv4(a) }),
  mod_nw_dst: (a) => ({ kind: "mod_nw_dst", address: ipv4(a) }),
  mod_nw_tos: (a) => {
    const tos = u8(a, "TOS");
    if (tos % 4 !== 0) throw new ParseError(a.column, `${tos} has ECN bits`, ["a multiple of 4"]);
    return { kind: "mod_nw_tos", tos };
  },
  mod_nw_ecn: (a) => ({ kind: "mod_nw_ecn", ecn: within(u8(a, "ECN"), 3, a) }),
  mod_nw_ttl: (a) => ({ kind: "mod_nw_ttl", ttl: u8(a, "TTL") }),
  set_nw_ttl: (a) => ({ kind: "mod_nw_ttl", ttl: u8(a, "TTL") }),
  mod_tp_src: (a) => ({ kind: "mod_tp_src", port: u16(a, "a port") }),
  mod_tp_dst: (a) => ({ kind: "mod_tp_dst", port: u16(a, "a port") }),
  set_vlan_vid: (a) => ({ kind: "set_vlan_vid", vid: within(u16(a, "VLAN VID"), 0xfff, a) }),
  set_vlan_pcp: (a) => ({ kind: "set_vlan_pcp", pcp: within(u8(a, "VLAN PCP"), 7, a) }),
  mod_vlan_vid: (a, s) => onTag(s, { kind: "set_vlan_vid", vid: within(u16(a, "VLAN VID"), 0xfff, a) }),
  mod_vlan_pcp: (a, s) => onTag(s, { kind: "set_vlan_pcp", pcp: within(u8(a, "VLAN PCP"), 7, a) }),
  strip_vlan: popVlan,
  pop_vlan: popVlan,
  push_vlan: (a, s) => {
    s.tagged = true;
    return { kind: "push_vlan", etherType: etherType(a, [VLAN, 0x88a8]) };
  },
  push_mpls: (a) => ({ kind: "push_mpls", etherType: etherType(a, [0x8847, 0x8848]) }),
  pop_mpls: (a) => ({ kind: "pop_mpls", etherType: u16(a, "an Ethertype") }),
  set_mpls_label: (a) => ({ kind: "set_mpls_label", label: within(u32(a, "a label"), 0xfffff, a) }),
  set_mpls_tc: (a) => ({ kind: "set_mpls_tc", tc: within(u8(a, "TC"), 7, a) }),
  set_mpls_ttl: (a) => ({ kind: "set_mpls_ttl", ttl: u8(a, "TTL") }),
  dec_mpls_ttl: plain("dec_mpls_ttl"),
  dec_ttl: decTtl,
  copy_ttl_in: plain("copy_ttl_in"),
  copy_ttl_out: plain("copy_ttl_out"),
  set_tunnel: (a) => ({ kind: "set_tunnel64", id: bigInteger(a, 64, "a tunnel id") }),
  set_tunnel64: (a) => ({ kind: "set_tunnel64", id: bigInteger(a, 64, "a tunnel id") }),
  delete_field: fields.deleteField,
  check_pkt_larger: fields.checkPktLarger,
  resubmit: nx.parseResubmit,
  learn: parseLearn,
  conjunction: nx.parseConjunction,
  multipath: nx.parseMultipath,
  note: (a) => ({ kind: "note", data: hexBytes(a) }),
  exit: plain("exit"),
  sample: nx.parseSample,
  fin_timeout: nx.parseFinTimeout,
  clone: (a, s) => ({ kind: "clone", actions: parseList(a, s, "clone") }),
  ct: (a, s) => parseCt(a, (inner) => parseList(inner, s, undefined)),
  ct_clear: plain("ct_clear"),
  nat: (a) => parseNat(a),
  encap: nx.parseEncap,
  decap: nx.parseDecap,
  dec_nsh_ttl: plain("dec_nsh_ttl"),
};

const ALL_64 = 0xffff_ffff_ffff_ffffn;

/** Instructions other than apply_actions, which is what actions between them are. */
const instructionWords: Readonly<Record<string, (arg: Piece, state: State) => Instruction>> = {
  meter: (a) => ({ kind: "meter", meterId: u32(a, "the meter") }),
  clear_actions: () => ({ kind: "clear_actions" }),
  write_actions: (a, s) => ({ kind: "write_actions", actions: parseList(a, s, undefined) }),
  write_metadata: (a) => {
    const slash = a.text.indexOf("/");
    const value = slash < 0 ? a : { ...a, text: a.text.slice(0, slash) };
    const mask = { text: a.text.slice(slash + 1), column: a.column + slash + 1 };
    return {
      kind: "write_metadata",
      metadata: bigInteger(value, 64, "metadata"),
      mask: slash < 0 ? ALL_64 : bigInteger(mask, 64, "the mask"),
    };
  },
  goto_table: (a) => ({ kind: "goto_table", tableId: u8(a, "the table") }),
};

/** Reads one action; undefined when the word is none. */
function parseAction(item: KeyValue, state: State): readonly Action[] | undefined {
  const word = item.key.toLowerCase();
  const parse = Object.hasOwn(actionWords, word) ? actionWords[word] : undefined;
  if (parse) {
    const read = parse(item.value, state);
    const list: readonly Action[] = Array.isArray(read) ? (read as readonly Action[]) : [read as Action];
    return list.map((a) => modern(a, state.ipProto));
  }
  const port = parsePort(item.key);
  return port === undefined ? undefined : [{ kind: "output", port: outputPort(port, item.column), maxLen: 0 }];
}

const isDrop = (item: KeyValue): boolean => item.key.toLowerCase() === "drop";

function onlyDrop(items: readonly KeyValue[]): void {
  const drop = items.find(isDrop);
  if (drop && items.some((i) => !isDrop(i))) throw new ParseError(drop.column, "drop stands alone", []);
}

/** @param outer where the list stands, so far as that must be checked here and not by the one who holds it */
function parseList(piece: Piece, outer: State, place: Outer | undefined): Action[] {
  const state = { ...outer, depth: outer.depth + 1 };
  if (state.depth > MOST_DEPTH) throw new ParseError(piece.column, "actions are nested too deeply", []);
  const items = scan(piece);
  onlyDrop(items);
  const list = items.flatMap((item) => {
    if (isDrop(item)) return [];
    const read = parseAction(item, state);
    if (!read) {
      const instruction = Object.hasOwn(instructionWords, item.key.toLowerCase());
      const what = instruction ? `the instruction ${item.key} cannot be nested` : `unknown action "${item.key}"`;
      throw new ParseError(item.column, what, Object.keys(actionWords));
    }
    return read;
  });
  const bad = place && checkList(list, place);
  if (bad) throw new ParseError(piece.column, detailOf(bad), []);
  return list;
}

/** The reason without the code and the offset, which say nothing of the text. */
const detailOf = (e: DecodeError): string => e.message.slice(e.message.indexOf(": ") + 2);

const start = (context: ActionContext): State => ({ ...context, tagged: context.tagged ?? false, depth: 0 });

/**
 * Reads a list of actions, as in a packet-out or a bucket.
 * @param column where `text` begins in what the user typed
 * @throws ParseError
 */
export const parseActions = (text: string, context: ActionContext = {}, column = 0): Action[] =>
  parseList({ text, column }, start(context), "list");

/**
 * Reads the actions of a flow: instructions in the order in which they run, with actions before, after meter only.
 * @throws ParseError
 */
export function parseInstructions(text: string, context: ActionContext = {}, column = 0): Instruction[] {
  const state = start(context);
  const items = scan({ text, column });
  onlyDrop(items);
  const out: Instruction[] = [];
  const applied: Action[] = [];
  let last: string | undefined;
  for (const item of items) {
    if (isDrop(item)) continue;
    const word = item.key.toLowerCase();
    const actions = parseAction(item, state);
    const instruction = Object.hasOwn(instructionWords, word) ? instructionWords[word] : undefined;
    if (!actions && !instruction) {
      const all = [...Object.keys(actionWords), ...Object.keys(instructionWords)];
      throw new ParseError(item.column, `unknown action "${item.key}"`, all);
    }
    if (last !== undefined && (actions ? orderOf(last) > orderOf("") : orderOf(last) >= orderOf(word))) {
      throw new ParseError(item.column, `${word} cannot come after ${last}`, []);
    }
    last = word;
    if (actions) {
      if (applied.length === 0) out.push({ kind: "apply_actions", actions: applied });
      applied.push(...actions);
    } else if (instruction) {
      const read = instruction(item.value, state);
      // Nothing to write is nothing to say.
      if (read.kind !== "write_actions" || read.actions.length > 0) out.push(read);
    }
  }
  const bad = checkList(applied, "list");
  if (bad) throw new ParseError(column, detailOf(bad), []);
  return out;
}
