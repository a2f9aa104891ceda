/**
 * The hashes behind `multipath`, so that a simulated packet falls into the slot that the switch gives it. Open vSwitch
 * hashes headers in network byte order, read as words of a little-endian machine, with two well-known functions: Bob Jenkins'
 * lookup3 (symmetric_l4 and the single fields) and MurmurHash3 (symmetric_l3l4, the choice of a link). Builds of
 * Open vSwitch for processors with CRC32 instructions (SSE 4.2 by compiler flag, ARMv8) use those in place of the
 * second; distributions' x86-64 packages do not.
 */
import type { HashFields, Multipath } from "../../openflow/action-values-nx.ts";
import { type PacketState, readField } from "./packet.ts";

const u32 = (n: number): number => n >>> 0;
const rotate = (x: number, by: number): number => u32((x << by) | (x >>> (32 - by)));

/** lookup3 of `bytes`, which are taken to be padded with zeros to a multiple of 4. */
export const lookup3 = (bytes: Buffer, basis: number): number => {
  let a = u32(0xdead_beef + bytes.length + basis);
  let b = a;
  let c = a;
  let at = 0;
  for (; bytes.length - at >= 12; at += 12) {
    a = u32(a + bytes.readUInt32LE(at));
    b = u32(b + bytes.readUInt32LE(at + 4));
    c = u32(c + bytes.readUInt32LE(at + 8));
    a = u32(u32(a - c) ^ rotate(c, 4));
    c = u32(c + b);
    b = u32(u32(b - a) ^ rotate(a, 6));
    a = u32(a + c);
    c = u32(u32(c - b) ^ rotate(b, 8));
    b = u32(b + a);
    a = u32(u32(a - c) ^ rotate(c, 16));
    c = u32(c + b);
    b = u32(u32(b - a) ^ rotate(a, 19));
    a = u32(a + c);
    c = u32(u32(c - b) ^ rotate(b, 4));
    b = u32(b + a);
  }
  if (at === bytes.length) return c;
  const rest = Buffer.alloc(12);
  bytes.copy(rest, 0, at);
  a = u32(a + rest.readUInt32LE(0));
  b = u32(b + rest.readUInt32LE(4));
  c = u32(c + rest.readUInt32LE(8));
  c = u32((c ^ b) - rotate(b, 14));
  a = u32((a ^ c) - rotate(c, 11));
  b = u32((b ^ a) - rotate(a, 25));
  c = u32((c ^ b) - rotate(b, 16));
  a = u32((a ^ c) - rotate(c, 4));
  b = u32((b ^ a) - rotate(a, 14));
  return u32((c ^ b) - rotate(b, 24));
};

/** One round of MurmurHash3 (32 bits). */
const murmur = (hash: number, word: number): number => {
  const mixed = Math.imul(rotate(Math.imul(word, 0xcc9e_2d51), 15), 0x1b87_3593);
  return u32(Math.imul(rotate(u32(hash ^ mixed), 13), 5) + 0xe654_6b64);
};

const murmurEnd = (hash: number, last: number): number => {
  let h = u32(hash ^ last);
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return u32(h ^ (h >>> 16));
};

const hashWords = (words: readonly number[], basis: number, last: number): number =>
  murmurEnd(words.reduce(murmur, basis), last);

const TYPE = { ipv4: 0x0800, ipv6: 0x86dd } as const;
const PROTO = { tcp: 6, udp: 17, sctp: 132 } as const;
/** The bits of a VLAN tag that hashes look at. */
const VID = 0x0fff;

const bytesOf = (value: bigint, length: number): Buffer =>
  Buffer.from(value.toString(16).padStart(2 * length, "0"), "hex");

/** What the symmetric hashes are made of: the exclusive or of both ends. */
const ends = (state: PacketState) => {
  const read = (name: Parameters<typeof readField>[1]): bigint => readField(state, name);
  return {
    type: Number(read("eth_type")),
    proto: Number(read("nw_proto")),
    fragment: read("ip_frag") !== 0n,
    mac: read("eth_src") ^ read("eth_dst"),
    vlan: Number(read("vlan_tci")) & VID,
    ipv4: read("ip_src") ^ read("ip_dst"),
    ipv6: read("ipv6_src") ^ read("ipv6_dst"),
    port: Number(read("tcp_src") ^ read("tcp_dst")),
  };
};

/** Addresses and, for TCP and SCTP, ports, with the MACs; UDP ports are left out. */
const symmetricL4 = (state: PacketState, basis: number): number => {
  const e = ends(state);
  const b = Buffer.alloc(32);
  b.writeUInt16BE(e.type, 16);
  b.writeUInt16BE(e.vlan, 18);
  bytesOf(e.mac, 6).copy(b, 22);
  if (e.type === TYPE.ipv4 || e.type === TYPE.ipv6) {
    if (e.type === TYPE.ipv4) b.writeUInt32BE(Number(e.ipv4), 0);
    else bytesOf(e.ipv6, 16).copy(b, 0);
    b.writeUInt8(e.proto, 28);
    if (e.proto === PROTO.tcp || e.proto === PROTO.sctp) b.writeUInt16BE(e.port, 20);
  }
  return lookup3(b, basis);
};

const wordsOf = (b: Buffer): number[] => Array.from({ length: b.length / 4 }, (_, i) => b.readUInt32LE(4 * i));

/** What is not IP is told apart by its MACs. */
const symmetricL2 = (state: PacketState, basis: number): number => {
  const e = ends(state);
  const b = Buffer.alloc(12);
  b.writeUInt16BE(e.type, 0);
  b.writeUInt16BE(e.vlan, 2);
  bytesOf(e.mac, 6).copy(b, 4);
  return hashWords(wordsOf(b), basis, basis);
};

const symmetricL3L4 = (state: PacketState, basis: number, udp: boolean): number => {
  const e = ends(state);
  if (e.type !== TYPE.ipv4 && e.type !== TYPE.ipv6) return symmetricL2(state, basis);
  const words = wordsOf(e.type === TYPE.ipv4 ? bytesOf(e.ipv4, 4) : bytesOf(e.ipv6, 16));
  words.push(e.proto);
  const ported = e.proto === PROTO.tcp || e.proto === PROTO.sctp || (udp && e.proto === PROTO.udp);
  // Two bytes in network order, read by a little-endian machine.
  if (ported && !e.fragment) words.push(((e.port & 0xff) << 8) | (e.port >> 8));
  return hashWords(words, basis, basis);
};

const symmetricL3 = (state: PacketState, basis: number): number => {
  const e = ends(state);
  const b = Buffer.alloc(20);
  b.writeUInt16BE(e.type, 16);
  if (e.type === TYPE.ipv4) b.writeUInt32BE(Number(e.ipv4), 0);
  if (e.type === TYPE.ipv6) bytesOf(e.ipv6, 16).copy(b, 0);
  return lookup3(b, basis);
};

const address = (state: PacketState, end: "src" | "dst", basis: number): number => {
  const type = Number(readField(state, "eth_type"));
  if (type === TYPE.ipv4) return lookup3(bytesOf(readField(state, `ip_${end}`), 4), basis);
  return type === TYPE.ipv6 ? lookup3(bytesOf(readField(state, `ipv6_${end}`), 16), basis) : basis;
};

/** The hash of the packet over the named fields (ovs-actions(7), "multipath"). */
const hashFields = (state: PacketState, fields: HashFields, basis: number): number => {
  switch (fields) {
    case "eth_src":
      return lookup3(bytesOf(readField(state, "eth_src"), 6), basis);
    case "symmetric_l4":
      return symmetricL4(state, basis);
    case "symmetric_l3l4":
      return symmetricL3L4(state, basis, false);
    case "symmetric_l3l4+udp":
      return symmetricL3L4(state, basis, true);
    case "symmetric_l3":
      return symmetricL3(state, basis);
    case "nw_src":
      return address(state, "src", basis);
    case "nw_dst":
      return address(state, "dst", basis);
  }
};

const pair = (hash: number, n: number): number => hashWords([0, n], hash, 8);

/** Draws until a number below `links` comes. */
const drawLink = (hash: number, links: number, modulo: number): number => {
  const fits = modulo >= links && Math.floor(modulo / 2) <= links;
  const range = fits ? modulo : 2 ** Math.ceil(Math.log2(links));
  for (let i = 0; ; i++) {
    const link = pair(hash, i) % range;
    if (link < links) return link;
  }
};

/** The link with the highest random weight. */
const heaviestLink = (hash: number, links: number): number => {
  let best = 0;
  for (let link = 1; link < links; link++) if (pair(hash, link) > pair(hash, best)) best = link;
  return best;
};

/** Beyond so many links, hrw draws as iter_hash does. */
const MAX_WEIGHED = 64;

/** The link a `multipath` action chooses, 0 … links - 1. */
export const multipathLink = (state: PacketState, action: Omit<Multipath, "kind" | "dst">): number => {
  const { links } = action;
  const hash = hashFields(state, action.fields, action.basis);
  switch (action.algorithm) {
    case "modulo_n":
      return hash % links;
    case "hash_threshold":
      return links === 1 ? 0 : Math.floor(hash / (Math.floor(0xffff_ffff / links) + 1));
    case "hrw":
      return links <= MAX_WEIGHED ? heaviestLink(hash, links) : drawLink(hash, links, 0);
    case "iter_hash":
      return drawLink(hash, links, action.arg);
  }
};
