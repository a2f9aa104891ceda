/** Text of Open vSwitch's other actions (ovs-actions(7)). */
import type { Action } from "../action-values.ts";
import type { Bundle, Controller, Encap, EncapProperty, Multipath, Sample } from "../action-values-nx.ts";
import { bundleAlgorithms, hashFields, multipathAlgorithms } from "../balance.ts";
import { packetInReasons } from "../controller-action.ts";
import { headerTypes, NSH_CLASS, NshProp, USE_NEXT_PROTO } from "../encap.ts";
import { ParseError } from "./parse-error.ts";
import { target } from "./parse-set.ts";
import { parsePort } from "./ports.ts";
import { bigInteger, hexBytes, integer, oneOf, type Piece, scan, split, unknownKey } from "./scan.ts";

const CONTROLLER = 0xfffffffd;
const IN_PORT = 0xfffffff8;
const CURRENT_TABLE = 0xff;
const WHOLE_PACKET = 0xffff;

export function port(p: Piece): number {
  const n = parsePort(p.text);
  if (n === undefined) {
    throw new ParseError(p.column, `"${p.text}" is not a port`, [
      "NUMBER",
      "IN_PORT",
      "LOCAL",
      "NORMAL",
      "FLOOD",
      "ALL",
    ]);
  }
  return n;
}

/** `controller`, `controller:BYTES` or `controller(key=value…)`; without anything special it is an output. */
export function parseController(arg: Piece): Action {
  const v: { -readonly [K in keyof Controller]: Controller[K] } = {
    kind: "controller",
    maxLen: WHOLE_PACKET,
    controllerId: 0,
    reason: packetInReasons.indexOf("action"),
  };
  // Even empty userdata makes this more than an output.
  let asked = false;
  if (/^[0-9]+$/.test(arg.text)) v.maxLen = integer(arg, 16, "max_len");
  else {
    for (const item of scan(arg)) {
      const { key, value } = item;
      if (key === "reason") {
        const number = /^[0-9]+$/.test(value.text);
        v.reason = number
          ? integer(value, 8, key)
          : packetInReasons.indexOf(oneOf(value, packetInReasons, "packet-in reason"));
      } else if (key === "max_len") v.maxLen = integer(value, 16, key);
      else if (key === "id") v.controllerId = integer(value, 16, key);
      else if (key === "userdata") {
        const userdata = hexBytes(value);
        if (userdata.length > 0) v.userdata = userdata;
        asked = true;
      } else if (key === "pause") v.pause = true;
      else if (key === "meter_id") v.meterId = integer(value, 32, key);
      else {
        throw unknownKey(item, "controller", [
          "reason=WORD",
          "max_len=N",
          "id=N",
          "userdata=HEX",
          "pause",
          "meter_id=N",
        ]);
      }
    }
  }
  const special = asked || v.pause || v.meterId !== undefined || v.controllerId !== 0;
  if (special || v.reason !== packetInReasons.indexOf("action")) return v;
  return { kind: "output", port: CONTROLLER, maxLen: v.maxLen };
}

/** `resubmit:PORT` or `resubmit([PORT],[TABLE][,ct])`. */
export function parseResubmit(arg: Piece): Action {
  let at = arg.column;
  const [portArg, tableArg, ctArg] = arg.text.split(",").map((text) => {
    const piece = { text: text.trim(), column: at };
    at += text.length + 1;
    return piece;
  });
  const inPort = portArg?.text ? port(portArg) : IN_PORT;
  const table = tableArg?.text ? integer(tableArg, 8, "the table") : CURRENT_TABLE;
  if (ctArg?.text && ctArg.text !== "ct") throw new ParseError(ctArg.column, `"${ctArg.text}" is not possible`, ["ct"]);
  if (inPort === IN_PORT && table === CURRENT_TABLE) {
    throw new ParseError(arg.column, "a port or a table is wanted", ["(,TABLE)", "(PORT,TABLE)", ":PORT"]);
  }
  return { kind: "resubmit", inPort, table, ...(ctArg?.text ? { ct: true } : {}) };
}

function take(args: readonly Piece[], i: number, arg: Piece, what: string): Piece {
  const p = args[i];
  if (!p) throw new ParseError(arg.column + arg.text.length, `${what} is missing`, [what]);
  return p;
}

const MULTIPATH = ["FIELDS", "BASIS", "ALGORITHM", "N_LINKS", "ARG", "FIELD[]"] as const;

/** `multipath(fields,basis,algorithm,n_links,arg,dst)`. */
export function parseMultipath(arg: Piece): Action {
  const args = split(arg);
  const [fields, basis, algorithm, links, extra, dst] = MULTIPATH.map((w, i) => take(args, i, arg, w)) as [
    Piece,
    Piece,
    Piece,
    Piece,
    Piece,
    Piece,
  ];
  const n = integer(links, 17, "n_links");
  if (n < 1 || n > 0x10000) throw new ParseError(links.column, "1 to 65536 links are possible", []);
  const to = target(dst);
  if (n > 2 ** to.nBits) throw new ParseError(dst.column, `${to.nBits} bits cannot hold ${n} links`, []);
  return {
    kind: "multipath",
    fields: oneOf(fields, hashFields.all as Multipath["fields"][], "set of fields"),
    basis: integer(basis, 16, "basis"),
    algorithm: oneOf(algorithm, multipathAlgorithms.all as Multipath["algorithm"][], "algorithm"),
    links: n,
    arg: integer(extra, 32, "arg"),
    dst: to,
  };
}

/** `bundle(fields,basis,algorithm,ofport,members:…)` and `bundle_load(…,ofport,dst,members:…)`. */
export function parseBundle(arg: Piece, loads: boolean): Action {
  const at = arg.text.search(/(members|slaves)\s*:/i);
  if (at < 0) throw new ParseError(arg.column + arg.text.length, "the members are missing", ["members:PORT,PORT…"]);
  const colon = arg.text.indexOf(":", at) + 1;
  const args = split({ ...arg, text: arg.text.slice(0, at) });
  const members = [...arg.text.slice(colon).matchAll(/[^, []+(?<!\])/g)].map((m) => {
    const piece = { text: m[0], column: arg.column + colon + m.index };
    const member = port(piece);
    if (member === CONTROLLER) throw new ParseError(piece.column, "the controller cannot be a member", []);
    return member;
  });
  const fields = take(args, 0, arg, "FIELDS");
  const type = take(args, 3, arg, "ofport");
  oneOf(type, ["ofport"], "kind of member");
  return {
    kind: "bundle",
    fields: oneOf(fields, hashFields.all as Bundle["fields"][], "set of fields"),
    basis: integer(take(args, 1, arg, "BASIS"), 16, "basis"),
    algorithm: oneOf(take(args, 2, arg, "ALGORITHM"), bundleAlgorithms.all as Bundle["algorithm"][], "algorithm"),
    members,
    ...(loads ? { dst: target(take(args, 4, arg, "FIELD[]")) } : {}),
  };
}

export function parseSample(arg: Piece): Action {
  const v: { -readonly [K in keyof Sample]: Sample[K] } = {
    kind: "sample",
    probability: 0,
    collectorSetId: 0,
    obsDomainId: 0,
    obsPointId: 0,
  };
  for (const item of scan(arg)) {
    const { key, value } = item;
    if (key === "probability") v.probability = integer(value, 16, key);
    else if (key === "collector_set_id") v.collectorSetId = integer(value, 32, key);
    else if (key === "obs_domain_id") v.obsDomainId = integer(value, 32, key);
    else if (key === "obs_point_id") v.obsPointId = integer(value, 32, key);
    else if (key === "sampling_port") v.samplingPort = port(value);
    else if (key === "ingress" || key === "egress") v.direction = key;
    else {
      const ids = ["collector_set_id=N", "obs_domain_id=N", "obs_point_id=N"];
      throw unknownKey(item, "sample", ["probability=N", ...ids, "sampling_port=PORT", "ingress", "egress"]);
    }
  }
  if (v.probability === 0) throw new ParseError(arg.column, "a probability is wanted", ["probability=1 … 65535"]);
  return v.direction && v.samplingPort === undefined ? { ...v, samplingPort: 0xffffffff } : v;
}

/** `id,clause/n`. */
export function parseConjunction(arg: Piece): Action {
  const m = /^\s*(0x[0-9a-f]+|\d+)\s*,\s*(\d+)\s*\/\s*(\d+)\s*$/i.exec(arg.text);
  if (!m) throw new ParseError(arg.column, `"${arg.text}" is not a clause`, ["ID,CLAUSE/CLAUSES"]);
  const [, id = "", clause = "", n = ""] = m;
  const v = { clause: Number(clause), nClauses: Number(n) };
  if (v.nClauses < 2 || v.nClauses > 64 || v.clause < 1 || v.clause > v.nClauses) {
    throw new ParseError(arg.column, "the clause is 1 to n, and n is 2 to 64", []);
  }
  return { kind: "conjunction", id: integer({ text: id, column: arg.column }, 32, "the id"), ...v };
}

export function parseFinTimeout(arg: Piece): Action {
  let idleTimeout = 0;
  let hardTimeout = 0;
  for (const item of scan(arg)) {
    if (item.key === "idle_timeout") idleTimeout = integer(item.value, 16, item.key);
    else if (item.key === "hard_timeout") hardTimeout = integer(item.value, 16, item.key);
    else throw unknownKey(item, "fin_timeout", ["idle_timeout=SECONDS", "hard_timeout=SECONDS"]);
  }
  return { kind: "fin_timeout", idleTimeout, hardTimeout };
}

/** Packet types by the words of encap. */
const headers = new Map([...headerTypes].map(([type, word]) => [word, type]));

export function parseEncap(arg: Piece): Encap {
  const [head] = scan(arg);
  const packetType = head && headers.get(head.key);
  if (packetType === undefined) throw new ParseError(arg.column, `no header "${arg.text}"`, [...headers.keys()]);
  const properties = scan(head?.value ?? { text: "", column: arg.column }).map((item): EncapProperty => {
    const { key, value } = item;
    if (key === "md_type") {
      const mdType = integer(value, 8, key);
      if (mdType !== 1 && mdType !== 2) throw new ParseError(value.column, `no md_type ${mdType}`, ["1", "2"]);
      return { propClass: NSH_CLASS, type: NshProp.mdType, data: Buffer.of(mdType) };
    }
    if (key !== "tlv") throw unknownKey(item, "encap", ["md_type=N", "tlv(CLASS,TYPE,VALUE)"]);
    const args = split(value);
    const tlvClass = integer(take(args, 0, value, "CLASS"), 16, "the class");
    const type = integer(take(args, 1, value, "TYPE"), 8, "the type");
    const bytes = bigInteger(take(args, 2, value, "VALUE"), 240 * 8, "the value").toString(16);
    const tlv = Buffer.from(bytes.length % 2 === 0 ? bytes : `0${bytes}`, "hex");
    const padding = Buffer.alloc(Math.ceil(tlv.length / 8) * 8 - tlv.length);
    const data = Buffer.concat([Buffer.of(tlvClass >> 8, tlvClass & 0xff, type, tlv.length), tlv, padding]);
    return { propClass: NSH_CLASS, type: NshProp.tlv, data };
  });
  return { kind: "encap", packetType, headerSize: 0, properties };
}

/** `decap()` or `decap(packet_type(ns=N,type=N))`. */
export function parseDecap(arg: Piece): Action {
  const [item] = scan(arg);
  if (!item) return { kind: "decap", packetType: USE_NEXT_PROTO };
  if (item.key !== "packet_type") throw unknownKey(item, "decap", ["packet_type(ns=N,type=N)"]);
  let ns: number | undefined;
  let type: number | undefined;
  for (const part of scan(item.value)) {
    if (part.key === "ns") ns = integer(part.value, 16, "ns");
    else if (part.key === "type") type = integer(part.value, 16, "type");
    else throw unknownKey(part, "packet_type", ["ns=N", "type=N"]);
  }
  if (ns === undefined || type === undefined) {
    throw new ParseError(item.value.column, "both parts of the packet type are wanted", ["ns=N,type=N"]);
  }
  return { kind: "decap", packetType: ns * 0x10000 + type };
}
