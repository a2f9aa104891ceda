/** Actions that choose one of several (ovs-actions(7), "The multipath action" and "The bundle … actions"). */
import type { Bundle, HashFields, Multipath } from "./action-values-nx.ts";
import { type Body, customAction, nx, words } from "./action-variant.ts";
import { shortPort } from "./actions-nx.ts";
import { DecodeError } from "./errors.ts";
import type { Writer } from "./schema/codec.ts";
import { checkTarget, fieldOfWord, mustBeZero, readBits, targetBits } from "./subfield.ts";
import { isOutputPort, widenPort } from "./text/output.ts";
import { formatPort } from "./text/ports.ts";
import { formatSubfield } from "./text/subfield.ts";

/** `enum nx_hash_fields`. */
export const hashFields = words<HashFields>({
  eth_src: 0,
  symmetric_l4: 1,
  symmetric_l3l4: 2,
  "symmetric_l3l4+udp": 3,
  nw_src: 4,
  nw_dst: 5,
  symmetric_l3: 6,
});
/** `enum nx_mp_algorithm`. */
export const multipathAlgorithms = words<Multipath["algorithm"]>({
  modulo_n: 0,
  hash_threshold: 1,
  hrw: 2,
  iter_hash: 3,
});
/** `enum nx_bd_algorithm`. */
export const bundleAlgorithms = words<Bundle["algorithm"]>({ active_backup: 0, hrw: 1 });

const bad = (at: number, detail: string, code = "OFPBAC_BAD_ARGUMENT"): DecodeError =>
  new DecodeError(code, at, detail);

const multipath = customAction(nx(10), "multipath", {
  min: 22,
  max: 22,
  write: (w, v) => {
    w.writeUInt16BE(hashFields.number(v.fields));
    w.writeUInt16BE(v.basis);
    w.writeUInt16BE(0);
    w.writeUInt16BE(multipathAlgorithms.number(v.algorithm));
    w.writeUInt16BE(v.links - 1);
    w.writeUInt32BE(v.arg);
    w.writeUInt16BE(0);
    targetBits.write(w, v.dst);
  },
  read: (b, at) => ({
    kind: "multipath",
    fields: hashFields.word(b.readUInt16BE(at)) as HashFields,
    basis: b.readUInt16BE(at + 2),
    algorithm: multipathAlgorithms.word(b.readUInt16BE(at + 6)) as Multipath["algorithm"],
    links: b.readUInt16BE(at + 8) + 1,
    arg: b.readUInt32BE(at + 10),
    dst: readBits(b, at + 16),
  }),
  check: (b, at) => {
    if (!hashFields.word(b.readUInt16BE(at))) throw bad(at, "unknown hash fields");
    if (!multipathAlgorithms.word(b.readUInt16BE(at + 6))) throw bad(at, "unknown algorithm");
    const width = (b.readUInt16BE(at + 16) & 0x3f) + 1;
    const links = b.readUInt16BE(at + 8) + 1;
    if (links > 2 ** width) throw bad(at, `${width} bits cannot hold ${links} links`);
    targetBits.fence(b, at + 16, at + 22);
  },
  text: (v) => `multipath(${v.fields},${v.basis},${v.algorithm},${v.links},${v.arg},${formatSubfield(v.dst)})`,
});

/** The only kind of bundle member that is defined: a port, as in NXM_OF_IN_PORT. */
const PORT_MEMBERS = 0x00000002;
const MOST_MEMBERS = 2048;
const NONE = 0xffffffff;
const CONTROLLER = 0xfffffffd;
const FIXED = 22;

function writeBundle(w: Writer, v: Body<"bundle">): void {
  w.writeUInt16BE(bundleAlgorithms.number(v.algorithm));
  w.writeUInt16BE(hashFields.number(v.fields));
  w.writeUInt16BE(v.basis);
  w.writeUInt32BE(PORT_MEMBERS);
  w.writeUInt16BE(v.members.length);
  if (v.dst) targetBits.write(w, v.dst);
  else {
    w.writeUInt16BE(0);
    w.writeUInt32BE(0);
  }
  w.writeUInt32BE(0);
  for (const m of v.members) shortPort.write(w, m);
}

const readBundle = (b: Buffer, at: number, loads: boolean): Bundle => ({
  kind: "bundle",
  fields: hashFields.word(b.readUInt16BE(at + 2)) as HashFields,
  basis: b.readUInt16BE(at + 4),
  algorithm: bundleAlgorithms.word(b.readUInt16BE(at)) as Bundle["algorithm"],
  members: Array.from({ length: b.readUInt16BE(at + 10) }, (_, i) => widenPort(b.readUInt16BE(at + FIXED + 2 * i))),
  ...(loads ? { dst: readBits(b, at + 12) } : {}),
});

function checkBundle(b: Buffer, at: number, end: number, loads: boolean): void {
  const n = b.readUInt16BE(at + 10);
  const def = fieldOfWord(b.readUInt32BE(at + 14));
  if (loads && !def) throw bad(at, "unknown field", "OFPBAC_BAD_SET_TYPE");
  if (n * 2 > end - at - FIXED) throw bad(at, `no room for ${n} members`, "OFPBAC_BAD_LEN");
  if (!hashFields.word(b.readUInt16BE(at + 2))) throw bad(at, "unknown hash fields");
  if (!bundleAlgorithms.word(b.readUInt16BE(at))) throw bad(at, "unknown algorithm");
  if (loads) {
    // Open vSwitch looks at no other reserved bytes of this one.
    const packed = b.readUInt16BE(at + 12);
    const width = (packed & 0x3f) + 1;
    if (width < 16) throw bad(at, "a port number needs 16 bits");
    checkTarget(def, packed >> 6, width, at);
  } else {
    if (n > MOST_MEMBERS) throw bad(at, `${n} members are too many`);
    if (b.readUInt32BE(at + 6) !== PORT_MEMBERS) throw bad(at, "unknown kind of members");
    mustBeZero(b, at + 12, at + FIXED, "OFPBAC_BAD_ARGUMENT");
  }
  for (let i = 0; i < n; i++) {
    const port = widenPort(b.readUInt16BE(at + FIXED + 2 * i));
    if (port === CONTROLLER || (port !== NONE && !isOutputPort(port))) {
      throw bad(at, `port ${port} cannot be a member`, "OFPBAC_BAD_OUT_PORT");
    }
  }
}

const bundle = (subtype: number, loads: boolean) =>
  customAction(nx(subtype), "bundle", {
    min: FIXED,
    write: writeBundle,
    read: (b, at) => readBundle(b, at, loads),
    check: (b, at, end) => checkBundle(b, at, end, loads),
    text: (v) => {
      const members = v.members.map(formatPort).join(",");
      const head = `${v.dst ? "bundle_load" : "bundle"}(${v.fields},${v.basis},${v.algorithm},ofport`;
      return `${head},${v.dst ? `${formatSubfield(v.dst)},` : ""}members:${members})`;
    },
    when: (v) => (v.dst !== undefined) === loads,
  });

export const balanceVariants = [multipath, bundle(12, false), bundle(13, true)] as const;
