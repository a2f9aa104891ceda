import { type Codec, rest } from "./codec.ts";
import type { TlvRules } from "./tlv.ts";

/**
 * How properties stand in a list: the length counts no padding, each begins at a multiple of 8, and type 0xffff has an
 * experimenter id and a type of 32 bits each.
 */
export const propertyRules: TlvRules = {
  align: 8,
  lengthCoversPadding: false,
  badLength: "OFPBPC_BAD_LEN",
  experimenters: false,
  rawExperimenterSize: 12,
};

/** An 8-bit property. Some senders count padding to 4 or 8 bytes in the length, so more bytes are accepted. */
export const propertyU8: Codec<number> = rest<number>({
  min: 1,
  write: (w, v) => w.writeUInt8(v),
  read: (b) => b.readUInt8(0),
});

/** A 16-bit property, written with the two bytes of padding that Open vSwitch counts. More bytes are accepted. */
export const propertyU16: Codec<number> = rest<number>({
  min: 2,
  write: (w, v) => {
    w.writeUInt16BE(v);
    w.writeUInt16BE(0);
  },
  read: (b) => b.readUInt16BE(0),
});
