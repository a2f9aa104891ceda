/** Connection tracking (ovs-actions(7), "The ct action"): ct with its nested actions, and nat. */
import type { Action } from "./action-values.ts";
import type { Ct, Nat, NatAddress } from "./action-values-nx.ts";
import { type Body, customAction, nx } from "./action-variant.ts";
import { DecodeError } from "./errors.ts";
import type { Writer } from "./schema/codec.ts";
import type { TlvList } from "./schema/tlv.ts";
import { checkSource, fieldOfWord, packBits, type Subfield, unpackBits, wordOf } from "./subfield.ts";
import { formatIpv4, formatIpv6 } from "./text/address.ts";
import { formatSubfield } from "./text/subfield.ts";

const bad = (at: number, detail: string, code = "OFPBAC_BAD_ARGUMENT"): DecodeError =>
  new DecodeError(code, at, detail);

const Flag = { commit: 1, force: 2 } as const;
const NO_TABLE = 0xff;
/** Bytes of ct before its nested actions. */
const HEAD = 14;

/** Application helpers by their well-known ports. */
const helpers = new Map([
  [21, "ftp"],
  [69, "tftp"],
]);

function writeCt(w: Writer, v: Body<"ct">, list: TlvList<Action>): void {
  w.writeUInt16BE((v.commit ? Flag.commit : 0) | (v.force ? Flag.force : 0));
  if (typeof v.zone === "number") {
    w.writeUInt32BE(0);
    w.writeUInt16BE(v.zone);
  } else {
    w.writeUInt32BE(wordOf(v.zone.field));
    w.writeUInt16BE(packBits(v.zone));
  }
  w.writeUInt8(v.table ?? NO_TABLE);
  w.writeUInt8(0);
  w.writeUInt16BE(0);
  w.writeUInt16BE(v.alg ?? 0);
  list.write(w, v.actions);
}

function readZone(b: Buffer): number | Subfield {
  const word = b.readUInt32BE(2);
  const packed = b.readUInt16BE(6);
  if (word === 0) return packed;
  const def = fieldOfWord(word);
  if (!def) throw bad(2, "unknown field", "OFPBAC_BAD_SET_TYPE");
  return unpackBits(def, packed);
}

function readCt(b: Buffer, list: TlvList<Action>): Omit<Ct, "kind"> {
  const flags = b.readUInt16BE(0);
  const table = b.readUInt8(8);
  const alg = b.readUInt16BE(12);
  return {
    commit: (flags & Flag.commit) !== 0,
    force: (flags & Flag.force) !== 0,
    zone: readZone(b),
    ...(table === NO_TABLE ? {} : { table }),
    ...(alg === 0 ? {} : { alg }),
    actions: b.length > HEAD ? list.decode(b.subarray(HEAD)) : [],
  };
}

function checkCt(b: Buffer, at: number, end: number, list: TlvList<Action>): void {
  const flags = b.readUInt16BE(at);
  if ((flags & Flag.force) !== 0 && (flags & Flag.commit) === 0) throw bad(at, "force without commit");
  const word = b.readUInt32BE(at + 2);
  if (word !== 0) {
    const packed = b.readUInt16BE(at + 6);
    const width = (packed & 0x3f) + 1;
    checkSource(fieldOfWord(word), packed >> 6, width, at);
    if (width !== 16) throw bad(at, "a zone has 16 bits", "OFPBAC_BAD_SET_LEN");
  }
  list.fence(b, at + HEAD, end);
}

function ctText(v: Body<"ct">, list: TlvList<Action>): string {
  const args: string[] = [];
  if (v.commit) args.push("commit");
  if (v.force) args.push("force");
  if (v.table !== undefined) args.push(`table=${v.table}`);
  if (typeof v.zone !== "number") args.push(`zone=${formatSubfield(v.zone)}`);
  else if (v.zone !== 0) args.push(`zone=${v.zone}`);
  // A nat that comes first stands beside exec, not in it.
  const [first, ...others] = v.actions;
  const exec = first?.kind === "nat" ? others : v.actions;
  if (first?.kind === "nat") args.push(natText(first));
  if (exec.length > 0) args.push(`exec(${exec.map(list.text).join(",")})`);
  if (v.alg) args.push(`alg=${helpers.get(v.alg) ?? v.alg}`);
  return `ct(${args.join(",")})`;
}

/** Flags of nat, and the bits that say which of its optional parts follow, in this order. */
const NatFlag = { src: 1, dst: 2, persistent: 4, hash: 8, random: 16 } as const;
const ALL_NAT_FLAGS = 31;
const Range = { ipv4: 1, ipv4Max: 2, ipv6: 4, ipv6Max: 8, port: 16, portMax: 32 } as const;
const NAT_HEAD = 6;

function writeAddress(w: Writer, a: NatAddress): void {
  if (typeof a === "number") w.writeUInt32BE(a);
  else {
    w.writeBigUInt64BE(a >> 64n);
    w.writeBigUInt64BE(a & 0xffff_ffff_ffff_ffffn);
  }
}

function writeNat(w: Writer, v: Body<"nat">): void {
  const v6 = typeof v.address === "bigint";
  let flags = v.type ? NatFlag[v.type] : 0;
  if (v.persistent) flags |= NatFlag.persistent;
  if (v.choice) flags |= NatFlag[v.choice];
  let present = 0;
  if (v.address !== undefined) present |= v6 ? Range.ipv6 : Range.ipv4;
  if (v.addressMax !== undefined) present |= v6 ? Range.ipv6Max : Range.ipv4Max;
  if (v.port !== undefined) present |= Range.port;
  if (v.portMax !== undefined) present |= Range.portMax;
  w.writeUInt16BE(0);
  w.writeUInt16BE(flags);
  w.writeUInt16BE(present);
  if (v.address !== undefined) writeAddress(w, v.address);
  if (v.addressMax !== undefined) writeAddress(w, v.addressMax);
  if (v.port !== undefined) w.writeUInt16BE(v.port);
  if (v.portMax !== undefined) w.writeUInt16BE(v.portMax);
}

/** Reads a nat whose bytes may be bad: the fence is this function too. */
function readNat(b: Buffer, at: number, end: number): Omit<Nat, "kind"> {
  const flags = b.readUInt16BE(at + 2);
  const present = b.readUInt16BE(at + 4);
  const has = (bit: number): boolean => (present & bit) !== 0;
  const both = (x: number, y: number): boolean => (flags & x) !== 0 && (flags & y) !== 0;
  if (flags > ALL_NAT_FLAGS || both(NatFlag.src, NatFlag.dst) || both(NatFlag.hash, NatFlag.random)) {
    throw bad(at, `the flags 0x${flags.toString(16)} do not go together`);
  }
  let here = at + NAT_HEAD;
  const take = <T>(size: number, read: (from: number) => T): T => {
    if (here + size > end) throw bad(here, "no room for the range");
    here += size;
    return read(here - size);
  };
  const ipv4 = (): number => take(4, (from) => b.readUInt32BE(from));
  const ipv6 = (): bigint => take(16, (from) => (b.readBigUInt64BE(from) << 64n) | b.readBigUInt64BE(from + 8));
  const u16 = (): number => take(2, (from) => b.readUInt16BE(from));
  const atLeast = <T extends NatAddress>(low: T, high: T): T => {
    if (high < low) throw bad(here, "the range ends before it begins");
    return high;
  };

  let address: NatAddress | undefined;
  let addressMax: NatAddress | undefined;
  let port: number | undefined;
  let portMax: number | undefined;
  if (has(Range.ipv4)) {
    if (has(Range.ipv6 | Range.ipv6Max)) throw bad(at, "IPv4 and IPv6 addresses");
    address = ipv4();
    if (address === 0) throw bad(at, "the address 0.0.0.0");
    if (has(Range.ipv4Max)) addressMax = atLeast(address, ipv4());
  } else if (has(Range.ipv4Max)) throw bad(at, "the end of a range alone");
  else if (has(Range.ipv6)) {
    address = ipv6();
    if (address === 0n) throw bad(at, "the address ::");
    if (has(Range.ipv6Max)) addressMax = atLeast(address, ipv6());
  } else if (has(Range.ipv6Max)) throw bad(at, "the end of a range alone");
  if (has(Range.port)) {
    if (address === undefined) throw bad(at, "ports without an address");
    port = u16();
    if (port === 0) throw bad(at, "port 0");
    if (has(Range.portMax)) portMax = atLeast(port, u16());
  } else if (has(Range.portMax)) throw bad(at, "the end of a range alone");

  return {
    ...((flags & 3) === 0 ? {} : { type: (flags & NatFlag.src) !== 0 ? "src" : "dst" }),
    ...(address === undefined ? {} : { address }),
    ...(addressMax === undefined ? {} : { addressMax }),
    ...(port === undefined ? {} : { port }),
    ...(portMax === undefined ? {} : { portMax }),
    ...((flags & NatFlag.persistent) === 0 ? {} : { persistent: true }),
    ...((flags & (NatFlag.hash | NatFlag.random)) === 0
      ? {}
      : { choice: (flags & NatFlag.hash) !== 0 ? "hash" : "random" }),
  };
}

const addressText = (a: NatAddress, withPort: boolean): string =>
  typeof a === "number" ? formatIpv4(a) : withPort ? `[${formatIpv6(a)}]` : formatIpv6(a);

function natText(v: Body<"nat">): string {
  if (!v.type) return "nat";
  const { address, addressMax, port, portMax } = v;
  if (address === undefined) return `nat(${v.type})`;
  let range = addressText(address, port !== undefined);
  if (addressMax !== undefined && addressMax !== address) range += `-${addressText(addressMax, port !== undefined)}`;
  if (port !== undefined) range += `:${port}`;
  if (portMax !== undefined && portMax !== port) range += `-${portMax}`;
  return `nat(${v.type}=${range}${v.persistent ? ",persistent" : ""}${v.choice ? `,${v.choice}` : ""})`;
}

/** Lists come as functions, since the list of all actions is made of these. */
export const ctVariants = (list: () => TlvList<Action>) =>
  [
    customAction(nx(35), "ct", {
      min: HEAD,
      write: (w, v) => writeCt(w, v, list()),
      read: (b) => readCt(b, list()),
      check: (b, at, end) => checkCt(b, at, end, list()),
      text: (v) => ctText(v, list()),
    }),
    customAction(nx(36), "nat", {
      min: NAT_HEAD,
      write: writeNat,
      read: (b) => readNat(b, 0, b.length),
      check: readNat,
      text: natText,
    }),
    customAction(nx(42), "clone", {
      min: 6,
      write: (w, v) => {
        w.writeUInt16BE(0);
        w.writeUInt32BE(0);
        list().write(w, v.actions);
      },
      read: (b) => ({ actions: list().decode(b.subarray(6)) }),
      check: (b, at, end) => {
        list().fence(b, at + 6, end);
      },
      text: (v) => `clone(${v.actions.map(list().text).join(",") || "drop"})`,
    }),
  ] as const;
