/** Text of ct and nat (ovs-actions(7), "The ct action"). */
import type { Action } from "../action-values.ts";
import type { Ct, Nat, NatAddress } from "../action-values-nx.ts";
import { parseIpv4, parseIpv6 } from "./address.ts";
import { ParseError } from "./parse-error.ts";
import { subfield } from "./parse-set.ts";
import { integer, type Piece, scan, unknownKey } from "./scan.ts";

const helpers = new Map([
  ["ftp", 21],
  ["tftp", 69],
]);
const CT_KEYS = [
  "commit",
  "force",
  "table=N",
  "zone=N",
  "zone=FIELD[]",
  "nat",
  "nat(…)",
  "exec(…)",
  "alg=ftp",
  "alg=tftp",
];
const NAT_KEYS = ["src", "dst", "src=ADDRESS", "dst=ADDRESS:PORT", "persistent", "hash", "random"];

/** @param actions reads the actions inside `exec(…)` */
export function parseCt(arg: Piece, actions: (p: Piece) => Action[]): Ct {
  const v: { -readonly [K in keyof Ct]: Ct[K] } = { kind: "ct", commit: false, force: false, zone: 0, actions: [] };
  for (const item of scan(arg)) {
    const { key, value } = item;
    if (key === "commit") v.commit = true;
    else if (key === "force") v.force = true;
    else if (key === "table") {
      v.table = integer(value, 8, key);
      if (v.table === 0xff) throw new ParseError(value.column, "there is no table 255", []);
    } else if (key === "zone") v.zone = /^[0-9]/.test(value.text) ? integer(value, 16, key) : zoneField(value);
    else if (key === "alg") {
      const port = helpers.get(value.text) ?? (/^[0-9]/.test(value.text) ? integer(value, 16, key) : undefined);
      if (port === undefined) throw new ParseError(value.column, `no helper "${value.text}"`, [...helpers.keys()]);
      v.alg = port;
    } else if (key === "nat") v.actions = [...v.actions, parseNat(value)];
    else if (key === "exec") v.actions = [...v.actions, ...actions(value)];
    else throw unknownKey(item, "ct", CT_KEYS);
  }
  if (v.force && !v.commit) throw new ParseError(arg.column, "force goes with commit only", ["commit,force"]);
  return v;
}

function zoneField(value: Piece) {
  const zone = subfield(value);
  if (zone.nBits !== 16) throw new ParseError(value.column, "a zone has 16 bits", ["FIELD[0..15]"]);
  return zone;
}

const ADDRESS = String.raw`(\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:.]+\]|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)`;
const RANGE = new RegExp(`^${ADDRESS}(?:-${ADDRESS})?(?::(\\d+)(?:-(\\d+))?)?$`);

type RangePart = Pick<Nat, "address" | "addressMax" | "port" | "portMax">;

function parseRange(p: Piece): RangePart {
  // An IPv6 address without brackets takes all colons, so that it has no room for a port.
  const bare = /^[0-9a-fA-F:.]+$/.test(p.text) ? parseIpv6(p.text) : undefined;
  if (bare !== undefined) return { address: bare };
  const m = RANGE.exec(p.text);
  const bad = (detail: string): ParseError =>
    new ParseError(p.column, detail, ["A.B.C.D", "A.B.C.D-A.B.C.D:PORT-PORT", "[IPV6]:PORT"]);
  if (!m) throw bad(`"${p.text}" is not a range of addresses and ports`);
  const [, low = "", high, first, last] = m;
  const read = (text: string): NatAddress => {
    const inner = text.replace(/^\[|\]$/g, "");
    const a = inner.includes(":") ? parseIpv6(inner) : parseIpv4(inner);
    if (a === undefined) throw bad(`"${text}" is not an address`);
    return a;
  };
  const port = (text: string): number => integer({ text, column: p.column + p.text.indexOf(text) }, 16, "a port");
  const address = read(low);
  const v: { -readonly [K in keyof RangePart]: RangePart[K] } = { address };
  if (high !== undefined) {
    v.addressMax = read(high);
    if (typeof v.addressMax !== typeof address || v.addressMax < address) throw bad(`${high} comes before ${low}`);
  }
  if (first !== undefined) v.port = port(first);
  if (last !== undefined) {
    v.portMax = port(last);
    if (v.portMax < (v.port ?? 0)) throw bad(`port ${last} comes before ${first}`);
  }
  return v;
}

export function parseNat(arg: Piece): Nat {
  const v: { -readonly [K in keyof Nat]: Nat[K] } = { kind: "nat" };
  for (const item of scan(arg)) {
    const { key, value } = item;
    if (key === "src" || key === "dst") {
      if (v.type && v.type !== key) throw new ParseError(item.column, "src and dst exclude each other", []);
      v.type = key;
      if (value.text !== "") Object.assign(v, parseRange(value));
    } else if (key === "persistent") v.persistent = true;
    else if (key === "hash" || key === "random") {
      if (v.choice && v.choice !== key) throw new ParseError(item.column, "hash and random exclude each other", []);
      v.choice = key;
    } else throw unknownKey(item, "nat", NAT_KEYS);
  }
  if (!v.type && (v.persistent || v.choice)) {
    throw new ParseError(arg.column, "flags go with src or dst only", ["src", "dst"]);
  }
  return v;
}
