import fc from "fast-check";
import { type FieldDef, type FieldName, fields } from "../../openflow/fields.ts";
import type { OxmField } from "../../openflow/oxm.ts";

/** OXM texts that meet a prerequisite, each a way to do so. */
export const MEETS: Readonly<Record<FieldDef["prerequisite"], readonly string[]>> = {
  none: [""],
  ethernet: [""],
  vlan_vid: ["OXM_OF_VLAN_VID(1005)", "OXM_OF_VLAN_VID_W(1000/1000)"],
  mpls: ["OXM_OF_ETH_TYPE(8847)", "OXM_OF_ETH_TYPE(8848)"],
  ipv4: ["OXM_OF_ETH_TYPE(0800)"],
  ipv6: ["OXM_OF_ETH_TYPE(86dd)"],
  ip: ["OXM_OF_ETH_TYPE(0800)", "OXM_OF_ETH_TYPE(86dd)"],
  arp: ["OXM_OF_ETH_TYPE(0806)", "OXM_OF_ETH_TYPE(8035)"],
  nsh: ["OXM_OF_ETH_TYPE(894f)"],
  ct: ["NXM_NX_CT_STATE_W(00000021/00000021), NXM_NX_CT_NW_PROTO(06)", "NXM_NX_CT_STATE_W(00000020/00000030)"],
  tcp: ["OXM_OF_ETH_TYPE(0800), OXM_OF_IP_PROTO(06)", "OXM_OF_ETH_TYPE(86dd), OXM_OF_IP_PROTO(06)"],
  udp: ["OXM_OF_ETH_TYPE(0800), OXM_OF_IP_PROTO(11)", "OXM_OF_ETH_TYPE(86dd), OXM_OF_IP_PROTO(11)"],
  sctp: ["OXM_OF_ETH_TYPE(0800), OXM_OF_IP_PROTO(84)"],
  icmpv4: ["OXM_OF_ETH_TYPE(0800), OXM_OF_IP_PROTO(01)"],
  icmpv6: ["OXM_OF_ETH_TYPE(86dd), OXM_OF_IP_PROTO(3a)"],
  nd: ["OXM_OF_ETH_TYPE(86dd), OXM_OF_IP_PROTO(3a), OXM_OF_ICMPV6_TYPE(87)"],
  nd_solicit: ["OXM_OF_ETH_TYPE(86dd), OXM_OF_IP_PROTO(3a), OXM_OF_ICMPV6_TYPE(87)"],
  nd_advert: ["OXM_OF_ETH_TYPE(86dd), OXM_OF_IP_PROTO(3a), OXM_OF_ICMPV6_TYPE(88)"],
};

const bitsOf = (bytes: number): fc.Arbitrary<bigint> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: (1n << BigInt(8 * bytes)) - 1n }) },
    { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 9n }) },
    { weight: 1, arbitrary: fc.constant((1n << BigInt(8 * bytes)) - 1n) },
  );

/** Masks as people use them: everything, nothing, prefixes, and any bits at all. */
const maskOf = (bytes: number): fc.Arbitrary<bigint> =>
  fc.oneof(
    bitsOf(bytes),
    fc.constant(0n),
    fc.integer({ min: 1, max: 8 * bytes }).map((n) => ((1n << BigInt(n)) - 1n) << BigInt(8 * bytes - n)),
  );

/** Bytes on the wire: tunnel options are kept short, other fields have their own length. */
const lengthOf = (def: FieldDef): fc.Arbitrary<number> =>
  def.variable ? fc.integer({ min: 1, max: 12 }) : fc.constant(def.bytes);

/** The text of one OXM of `def`, mostly one that a switch accepts. */
const oxmText = (def: FieldDef): fc.Arbitrary<string> =>
  lengthOf(def).chain((bytes) =>
    fc
      .record({
        header: fc.constantFrom(...def.headers),
        value: bitsOf(bytes),
        mask: def.maskable ? fc.option(maskOf(bytes), { nil: undefined }) : fc.constant(undefined),
        bad: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
      })
      .map(({ header, value, mask, bad }) => {
        const hex = (n: bigint): string => n.toString(16).padStart(2 * bytes, "0");
        const valid = def.variable || bad ? value : def.format === "port" ? value % 0xff00n : value & BigInt(def.valid);
        if (mask === undefined) return `${header.text}(${hex(valid)})`;
        return `${header.text}_W(${hex(bad ? valid : valid & mask)}/${hex(mask)})`;
      }),
  );

/** OXMs of one protocol and of fields that need none. */
export const oxmTexts: fc.Arbitrary<string> = fc
  .constantFrom(...(Object.keys(MEETS) as FieldDef["prerequisite"][]))
  .chain((prerequisite) => {
    const pool = fields.filter((f) => f.prerequisite === prerequisite || f.prerequisite === "none");
    return fc
      .record({
        before: fc.constantFrom(...MEETS[prerequisite]),
        items: fc.array(
          fc.constantFrom(...pool).chain((def) => oxmText(def)),
          { maxLength: 4 },
        ),
      })
      .map(({ before, items }) => [...(before === "" ? [] : [before]), ...items].join(", ") || "<any>");
  });

/** Any field with any value and mask of its width, whether or not a switch would take them. */
export const anyField: fc.Arbitrary<OxmField> = fc
  .constantFrom(...fields.filter((f) => f.name !== "in_port_oxm"))
  .chain((def) => {
    const bytes = def.name === "in_port" ? 4 : def.variable ? 12 : def.bytes;
    const as = (n: bigint): number | bigint => (def.big ? n : Number(n));
    return fc
      .record({ value: bitsOf(bytes).map(as), mask: fc.option(maskOf(bytes).map(as), { nil: undefined }) })
      .map(({ value, mask }) => ({ field: def.name as FieldName, value, ...(mask === undefined ? {} : { mask }) }));
  });
