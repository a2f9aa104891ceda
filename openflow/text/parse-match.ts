import { fieldAt, matchOfKey } from "../canonical.ts";
import { type FieldDef, type FieldName, type FieldValue, fieldByName, fields } from "../fields.ts";
import { and, apply, emptyKey, type FlowKey, partsOf } from "../flow-key.ts";
import type { Match } from "../match.ts";
import { fenceOxms, type RawOxm, readOxm } from "../oxm.ts";
import { EtherType, IpProto, prerequisiteMet } from "../prerequisites.ts";
import { ParseError } from "./parse-error.ts";
import { integer, parseValue } from "./value.ts";

/** Words without a value: the EtherType they stand for, and the IP protocol. */
const PROTOCOLS: ReadonlyMap<string, readonly [ethType: number, ipProto?: number]> = new Map(
  Object.entries<readonly [ethType: number, ipProto?: number]>({
    ip: [EtherType.ipv4],
    ipv4: [EtherType.ipv4],
    icmp: [EtherType.ipv4, IpProto.icmp],
    tcp: [EtherType.ipv4, IpProto.tcp],
    udp: [EtherType.ipv4, IpProto.udp],
    sctp: [EtherType.ipv4, IpProto.sctp],
    ipv6: [EtherType.ipv6],
    icmp6: [EtherType.ipv6, IpProto.icmpv6],
    tcp6: [EtherType.ipv6, IpProto.tcp],
    udp6: [EtherType.ipv6, IpProto.udp],
    sctp6: [EtherType.ipv6, IpProto.sctp],
    arp: [EtherType.arp],
    rarp: [EtherType.rarp],
    mpls: [EtherType.mpls],
    mplsm: [EtherType.mplsMcast],
  }),
);

/** Names that ovs-ofctl prints in a match although no field has them. */
const PRINTED: ReadonlyMap<string, FieldName> = new Map([
  ["gtpu_flags", "tun_gtpu_flags"],
  ["gtpu_msgtype", "tun_gtpu_msgtype"],
  ["dl_vlan_pcp", "vlan_pcp"],
]);

/** Fields of Open vSwitch that OpenFlow has no code point for. */
const UNSENDABLE: readonly string[] = ["skb_priority", "tun_ttl", "tun_tos"];

const WORDS: readonly string[] = [
  ...PROTOCOLS.keys(),
  "eth",
  "dl_vlan",
  ...PRINTED.keys(),
  ...fields.flatMap((f) => [f.name, ...f.aliases]),
];

/** Whether `word` can begin a match: a field's name, an alias or a protocol. What it cannot, the flow's own words may. */
export const isMatchWord = (word: string): boolean => WORDS.includes(word) || word === "raw";

const def = (name: FieldName): FieldDef<FieldName> => fieldByName(name) as FieldDef<FieldName>;

/** One word of the text: `name` or `name=value`, with the columns of both. */
interface Word {
  readonly name: string;
  readonly at: number;
  readonly value: string | undefined;
  readonly valueAt: number;
}

/** Words end at commas and white space; a value in parentheses may hold commas. */
const WORD = /([^\s,=:]+)(?:([=:])(\([^)]*\)|[^\s,]*))?/y;

function* words(text: string): Generator<Word> {
  let at = 0;
  for (;;) {
    while (at < text.length && /[\s,]/.test(text[at] as string)) at++;
    if (at >= text.length) return;
    WORD.lastIndex = at;
    const m = WORD.exec(text);
    if (!m) throw new ParseError(at, `"${text[at]}" cannot begin a field`, ["FIELD=VALUE", "PROTOCOL"]);
    const [all, name = "", sign, value] = m;
    yield { name, at, value: sign === undefined ? undefined : value, valueAt: at + name.length + 1 };
    at += all.length;
  }
}

/**
 * Reads a match as people type it for ovs-ofctl: fields by any name or alias of ovs-fields(7) and the protocol words
 * (`tcp` for `eth_type=0x0800,nw_proto=6`). The result is canonical.
 *
 * Stricter than ovs-ofctl in two ways, both of which it answers by leaving something out: a field whose
 * prerequisites the text does not give is an error here, and so are two different values for the same bits.
 * @throws ParseError with the column and what is possible there
 */
export function parseMatch(text: string): Match {
  const key = emptyKey();
  const named: { readonly field: FieldDef<FieldName>; readonly word: Word }[] = [];
  const add = (field: FieldDef<FieldName>, value: FieldValue, mask: FieldValue | undefined, word: Word): void => {
    refuseConflict(key, field, value, mask, word);
    apply(key, field, mask === undefined ? { field: field.name, value } : { field: field.name, value, mask });
    named.push({ field, word });
  };
  for (const word of packetTypeFirst([...words(text)])) {
    const protocol = word.value === undefined ? PROTOCOLS.get(word.name) : undefined;
    if (protocol) {
      add(def("eth_type"), protocol[0], undefined, word);
      if (protocol[1] !== undefined) add(def("nw_proto"), protocol[1], undefined, word);
    } else if (word.name === "eth" && word.value === undefined) add(def("packet_type"), 0, undefined, word);
    else if (word.name === "raw") key.raws.push(parseRaw(word));
    else if (word.name === "dl_vlan") add(def("vlan_vid"), vlanId(word), undefined, word);
    else {
      const field = fieldOf(word);
      if (field.variable && word.value === undefined) {
        // The option must be there, whatever it says.
        add(field, 0n, 0n, word);
        continue;
      }
      const { value, mask } = parseValue(field, requiredValue(word), word.valueAt);
      if (field.name === "in_port") {
        // Typed as 16 or 32 bits, kept as 32.
        const port = parseValue(def("in_port_oxm"), requiredValue(word), word.valueAt);
        add(def("in_port_oxm"), port.value, port.mask, word);
      } else add(field, value, mask, word);
    }
  }
  for (const { field, word } of named) requireContext(key, field, word);
  return matchOfKey(key);
}

/** Other fields imply an Ethernet packet unless the text says, anywhere, what it is. */
function packetTypeFirst(all: readonly Word[]): readonly Word[] {
  const isType = (w: Word): boolean => w.name === "packet_type" || w.name === "eth";
  return [...all.filter(isType), ...all.filter((w) => !isType(w))];
}

function fieldOf(word: Word): FieldDef<FieldName> {
  const field = fieldByName(PRINTED.get(word.name) ?? word.name);
  if (field) return field;
  if (UNSENDABLE.includes(word.name)) {
    throw new ParseError(word.at, `OpenFlow has no way to say ${word.name}`, []);
  }
  throw new ParseError(word.at, `unknown field "${word.name}"`, nearest(word.name));
}

function requiredValue(word: Word): string {
  if (word.value === undefined || word.value === "") {
    throw new ParseError(word.at + word.name.length, `${word.name} wants a value`, [`${word.name}=VALUE`]);
  }
  return word.value;
}

/** The words that share the most letters with the beginning of `name`. */
function nearest(name: string): readonly string[] {
  for (let n = name.length; n > 0; n--) {
    const some = WORDS.filter((w) => w.startsWith(name.slice(0, n)));
    if (some.length > 0) return some;
  }
  return WORDS;
}

/** OpenFlow 1.0's VLAN: an id, or 0xffff for a frame without a tag. */
function vlanId(word: Word): number {
  const id = integer(requiredValue(word));
  if (id === 0xffffn) return 0;
  if (id === undefined || id > 0xfffn) {
    throw new ParseError(word.valueAt, `"${word.value}" is not a VLAN id`, ["0 to 4095", "0xffff for no VLAN"]);
  }
  return Number(id) | 0x1000;
}

function parseRaw(word: Word): RawOxm {
  const digits = /^0x((?:[0-9a-f]{2}){4,})$/i.exec(requiredValue(word))?.[1];
  const bytes = Buffer.from(digits ?? "", "hex");
  if (bytes.length < 4 || bytes.length !== 4 + (bytes[3] as number)) {
    throw new ParseError(word.valueAt, "not one field with its header", ["0xHEADERPAYLOAD"]);
  }
  fenceOxms(bytes, 0, bytes.length);
  const f = readOxm(bytes, 0);
  if (f.field !== "raw") throw new ParseError(word.valueAt, `this is ${f.field}, which has a name`, [f.field]);
  return f as RawOxm;
}

/** Two words about the same bits must agree, as `tcp,nw_proto=6` do. */
function refuseConflict(
  key: FlowKey,
  field: FieldDef<FieldName>,
  value: FieldValue,
  mask: FieldValue | undefined,
  word: Word,
): void {
  if (!partsOf(field).some((part) => key.places.has(part.slot))) return;
  const alone = emptyKey();
  apply(alone, field, mask === undefined ? { field: field.name, value } : { field: field.name, value, mask });
  for (const part of partsOf(field)) {
    const before = key.places.get(part.slot);
    const now = alone.places.get(part.slot);
    if (!before || !now) continue;
    const common = and(before.mask, now.mask);
    if (and(before.value, common) !== and(now.value, common)) {
      throw new ParseError(word.at, `${word.name} contradicts what was said of ${before.def.name} before`, []);
    }
  }
}

/** What to type for a prerequisite. */
const GIVES: Partial<Record<FieldDef["prerequisite"], readonly string[]>> = {
  vlan_vid: ["dl_vlan=ID"],
  mpls: ["mpls", "mplsm"],
  ipv4: ["ip", "tcp", "udp", "sctp", "icmp", "arp"],
  ipv6: ["ipv6", "tcp6", "udp6", "sctp6", "icmp6"],
  ip: ["ip", "ipv6", "tcp", "udp", "sctp", "icmp"],
  arp: ["arp", "rarp"],
  nsh: ["eth_type=0x894f"],
  ct: ["ct_state=+trk+est", "ct_state=+trk+new", "ct_state=+trk-inv"],
  tcp: ["tcp", "tcp6", "udp", "udp6", "sctp", "sctp6"],
  udp: ["udp", "udp6"],
  sctp: ["sctp", "sctp6"],
  icmpv4: ["icmp", "icmp6"],
  icmpv6: ["icmp6"],
  nd: ["icmp6,icmp_type=135", "icmp6,icmp_type=136"],
  nd_solicit: ["icmp6,icmp_type=135"],
  nd_advert: ["icmp6,icmp_type=136"],
};

function requireContext(key: FlowKey, field: FieldDef<FieldName>, word: Word): void {
  const slot = partsOf(field)[0]?.slot;
  const place = slot && key.places.get(slot);
  // The protocol decides what a shared place means: tp_dst is udp_dst under udp.
  const as = place && !["vlan_tci", "nw_tos", "in_port"].includes(place.slot) ? fieldAt(key, place) : field;
  if (!prerequisiteMet(key, as)) {
    throw new ParseError(word.at, `${word.name} means nothing without its protocol`, GIVES[as.prerequisite] ?? []);
  }
}
