/** Encapsulation (ovs-actions(7), "The encap action" and "The decap action"). */
import type { EncapProperty } from "./action-values-nx.ts";
import { action, type Body, customAction, nx } from "./action-variant.ts";
import { DecodeError } from "./errors.ts";
import { pad, u32 } from "./schema/codec.ts";

/** Headers that encap can put on, by packet type. */
export const headerTypes = new Map([
  [0x0000_0000, "ethernet"],
  [0x0001_894f, "nsh"],
  [0x0001_8847, "mpls"],
  [0x0001_8848, "mpls_mc"],
]);
/** Packet type of decap that leaves the rest to the switch. */
export const USE_NEXT_PROTO = 0xfffe;

/** The only property class with properties, and its two types. */
export const NSH_CLASS = 4;
export const NshProp = { mdType: 1, tlv: 2 } as const;

const MAX_PACKET = 0xffff;
const HEAD = 6;

function eachProperty(b: Buffer, from: number, end: number, property: (at: number, length: number) => void): void {
  for (let at = from; at < end; ) {
    const length = end - at >= 4 ? b.readUInt8(at + 3) : 0;
    const stop = at + Math.ceil(length / 8) * 8;
    if (length < 4 || stop > end) throw new DecodeError("OFPBAC_BAD_LEN", at, `property length ${length}`);
    property(at, length);
    at = stop;
  }
}

const bad = (code: string, at: number): DecodeError => new DecodeError(code, at, "encap property");

function checkProperty(b: Buffer, at: number, length: number): void {
  if (b.readUInt16BE(at) !== NSH_CLASS) throw bad("NXBAC_UNKNOWN_ED_PROP", at);
  const type = b.readUInt8(at + 2);
  if (type === NshProp.mdType) {
    if (length !== 5) throw bad("NXBAC_BAD_ED_PROP", at);
  } else if (type === NshProp.tlv) {
    // The option's own length leaves out the zeros after it, the property's does not.
    if (length < 8 || Math.ceil(b.readUInt8(at + 7) / 8) * 8 !== length - 8) throw bad("NXBAC_BAD_ED_PROP", at);
  } else throw bad("NXBAC_UNKNOWN_ED_PROP", at);
}

function propertyText(p: EncapProperty): string {
  if (p.type === NshProp.mdType) return `md_type=${p.data.readUInt8(0)}`;
  const tlv = p.data.toString("hex", 4, 4 + p.data.readUInt8(3));
  return `tlv(0x${p.data.toString("hex", 0, 2)},${p.data.readUInt8(2)},${/^0*$/.test(tlv) ? "0" : `0x${tlv.replace(/^0+/, "")}`})`;
}

function text(v: Body<"encap">): string {
  const properties = v.properties.map(propertyText).join(",");
  return `encap(${headerTypes.get(v.packetType) ?? "UNKNOWN"}${properties && `(${properties})`})`;
}

export const encapVariants = [
  customAction(nx(46), "encap", {
    min: HEAD,
    write: (w, v) => {
      w.writeUInt16BE(v.headerSize);
      w.writeUInt32BE(v.packetType);
      for (const p of v.properties) {
        w.writeUInt16BE(p.propClass);
        w.writeUInt8(p.type);
        w.writeUInt8(4 + p.data.length);
        w.writeBuffer(p.data);
        for (let i = 4 + p.data.length; i % 8 !== 0; i++) w.writeUInt8(0);
      }
    },
    read: (b, from, end) => {
      const properties: EncapProperty[] = [];
      eachProperty(b, from + HEAD, end, (at, length) => {
        properties.push({
          propClass: b.readUInt16BE(at),
          type: b.readUInt8(at + 2),
          data: b.subarray(at + 4, at + length),
        });
      });
      return { kind: "encap", packetType: b.readUInt32BE(from + 2), headerSize: b.readUInt16BE(from), properties };
    },
    check: (b, at, end) => {
      const type = b.readUInt32BE(at + 2);
      if (!headerTypes.has(type)) throw new DecodeError("NXBAC_BAD_HEADER_TYPE", at, `packet type ${type}`);
      eachProperty(b, at + HEAD, end, (from, length) => checkProperty(b, from, length));
    },
    text,
  }),
  {
    ...action(nx(47), "decap", { _: pad(2), packetType: u32 }, (v) => {
      if (v.packetType === USE_NEXT_PROTO) return "decap()";
      const type = v.packetType & MAX_PACKET;
      return `decap(packet_type(ns=${v.packetType >>> 16},type=${type === 0 ? "0" : `0x${type.toString(16)}`}))`;
    }),
  },
] as const;
