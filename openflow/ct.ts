/** Connection tracking (ovs-actions(7), "The ct action"): ct with its nested actions, and nat. */
import type { Action } from "./action-values.ts";
import type { Ct, Nat, NatAddress } from "./action-values-nx.ts";
import { type Body, customAction, nx } from "./action-variant.ts";
import { DecodeError } from "./errors.ts";
import type { Writer } from "./schema/codec.ts";
import type { TlvList } from "./schema/tlv.ts";
import { checkSource, fieldOfWord, packBits, unpackBits, wordOf } from "./subfield.ts";
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

function readCt(b: Buffer, at: number, end: number, list: TlvList<Action>): Ct {
  const flags = b.readUInt16BE(at);
  const word = b.readUInt32BE(at + 2);
  const packed = b.readUInt16BE(at + 6);
  const table = b.readUInt8(at + 8);
  const alg = b.readUInt16BE(at + 12);
  const zoneField = word === 0 ? undefined : fieldOfWord(word);
  const value: { -readonly [K in keyof Ct]: Ct[K] } = {
    kind: "ct",
    commit: (flags & Flag.commit) !== 0,
    force: (flags & Flag.force) !== 0,
    zone: zoneField ? unpackBits(zoneField, packed) : packed,
    actions: list.read(b, at + HEAD, end),
  };
  if (table !== NO_TABLE) value.table = table;
  if (alg !== 0) value.alg = alg;
  return value;
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

/** Which parts go together: none, or a beginning with perhaps an end. */
const withoutBeginning = (present: number, first: number, last: number): boolean =>
  (present & last) !== 0 && (present & first) === 0;

const partSize = (present: number): number =>
  ((present & Range.ipv4) !== 0 ? 4 : 0) +
  ((present & Range.ipv4Max) !== 0 ? 4 : 0) +
  ((present & Range.ipv6) !== 0 ? 16 : 0) +
  ((present & Range.ipv6Max) !== 0 ? 16 : 0) +
  ((present & Range.port) !== 0 ? 2 : 0) +
  ((present & Range.portMax) !== 0 ? 2 : 0);

function checkNat(b: Buffer, at: number, end: number): void {
  const flags = b.readUInt16BE(at + 2);
  const present = b.readUInt16BE(at + 4) & ALL_PARTS;
  const exclude = (x: number, y: number): boolean => (flags & x) !== 0 && (flags & y) !== 0;
  if (flags > ALL_NAT_FLAGS || exclude(NatFlag.src, NatFlag.dst) || exclude(NatFlag.hash, NatFlag.random)) {
    throw bad(at, `the flags 0x${flags.toString(16)} do not go together`);
  }
  const both = (present & (Range.ipv4 | Range.ipv4Max)) !== 0 && (present & (Range.ipv6 | Range.ipv6Max)) !== 0;
  if (
    both ||
    withoutBeginning(present, Range.ipv4, Range.ipv4Max) ||
    withoutBeginning(present, Range.ipv6, Range.ipv6Max) ||
    withoutBeginning(present, Range.port, Range.portMax) ||
    withoutBeginning(present, Range.ipv4 | Range.ipv6, Range.port)
  ) {
    throw bad(at, "these parts of a range do not go together");
  }
  if (at + NAT_HEAD + partSize(present) > end) throw bad(at, "no room for the range");
  const { address, addressMax, port, portMax } = readRange(b, at + NAT_HEAD, present);
  if (address === 0 || address === 0n || port === 0) throw bad(at, "a range that begins with 0");
  if (address !== undefined && addressMax !== undefined && addressMax < address) throw bad(at, "a range upside down");
  if (port !== undefined && portMax !== undefined && portMax < port) throw bad(at, "a range upside down");
}

const ALL_PARTS = 63;

const readIpv6 = (b: Buffer, at: number): bigint => (b.readBigUInt64BE(at) << 64n) | b.readBigUInt64BE(at + 8);

function readRange(b: Buffer, from: number, present: number): NatRange {
  const value: NatRange = {};
  let at = from;
  const v6 = (present & Range.ipv6) !== 0;
  const size = v6 ? 16 : 4;
  if ((present & (Range.ipv4 | Range.ipv6)) !== 0) {
    value.address = v6 ? readIpv6(b, at) : b.readUInt32BE(at);
    at += size;
  }
  if ((present & (Range.ipv4Max | Range.ipv6Max)) !== 0) {
    value.addressMax = v6 ? readIpv6(b, at) : b.readUInt32BE(at);
    at += size;
  }
  if ((present & Range.port) !== 0) {
    value.port = b.readUInt16BE(at);
    at += 2;
  }
  if ((present & Range.portMax) !== 0) value.portMax = b.readUInt16BE(at);
  return value;
}

type NatRange = { -readonly [K in "address" | "addressMax" | "port" | "portMax"]?: NonNullable<Nat[K]> };

function readNat(b: Buffer, at: number): Nat {
  const flags = b.readUInt16BE(at + 2);
  const present = b.readUInt16BE(at + 4);
  const value: { -readonly [K in keyof Nat]: Nat[K] } = { kind: "nat" };
  if ((flags & NatFlag.src) !== 0) value.type = "src";
  else if ((flags & NatFlag.dst) !== 0) value.type = "dst";
  if (present !== 0) Object.assign(value, readRange(b, at + NAT_HEAD, present));
  if ((flags & NatFlag.persistent) !== 0) value.persistent = true;
  if ((flags & NatFlag.hash) !== 0) value.choice = "hash";
  else if ((flags & NatFlag.random) !== 0) value.choice = "random";
  return value;
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
      read: (b, at, end) => readCt(b, at, end, list()),
      check: (b, at, end) => checkCt(b, at, end, list()),
      text: (v) => ctText(v, list()),
    }),
    customAction(nx(36), "nat", {
      min: NAT_HEAD,
      write: writeNat,
      read: readNat,
      check: checkNat,
      text: natText,
    }),
    customAction(nx(42), "clone", {
      min: 6,
      write: (w, v) => {
        w.writeUInt16BE(0);
        w.writeUInt32BE(0);
        list().write(w, v.actions);
      },
      read: (b, at, end) => ({ kind: "clone", actions: list().read(b, at + 6, end) }),
      check: (b, at, end) => {
        list().fence(b, at + 6, end);
      },
      text: (v) => `clone(${v.actions.map(list().text).join(",") || "drop"})`,
    }),
  ] as const;
