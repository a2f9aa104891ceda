import { DecodeError } from "../errors.ts";
import { type Codec, pad, u16, u32 } from "../schema/codec.ts";
import { propertyRules } from "../schema/property.ts";
import { tlvList, type Unknown } from "../schema/tlv.ts";
import { Experimenter, experimenterMessage } from "./define.ts";
import { flowMod, nxtFlowMod } from "./flow.ts";
import { groupMod } from "./group.ts";
import { innerMessage } from "./inner.ts";
import { meterMod } from "./meter.ts";
import { packetOut } from "./packet.ts";
import { portMod } from "./port.ts";

/*
 * Bundles of OpenFlow 1.4 (§7.3.9 there) as the ONF extension EXT-230 for 1.3.
 */

/** OFPBCT_*: requests are even, each one's reply follows it. */
export const BundleControl = {
  openRequest: 0,
  openReply: 1,
  closeRequest: 2,
  closeReply: 3,
  commitRequest: 4,
  commitReply: 5,
  discardRequest: 6,
  discardReply: 7,
} as const;
/** OFPBF_*. */
export const BundleFlag = { atomic: 1, ordered: 2 } as const;

const { onf } = Experimenter;

const properties = tlvList([] as const, propertyRules);
/** A property of a bundle message; only experimenter ones are defined, and they stay raw. */
type BundleProperty = Unknown;

export const bundleControl = experimenterMessage(
  onf,
  2300,
  "bundle_control",
  "ONFT_BUNDLE_CONTROL",
  { bundleId: u32, controlType: u16, flags: u16, properties },
  { unit: 8 },
);

const inner = innerMessage([flowMod, nxtFlowMod, groupMod, packetOut, portMod], {
  version: "OFPBFC_BAD_VERSION",
  length: "OFPBFC_MSG_UNSUP",
});

/** The message added, whose transaction id must be that of the message around it. */
const added: typeof inner = {
  ...inner,
  fence: (b, at, end) => {
    const stop = inner.fence(b, at, end);
    if (b.readUInt32BE(at + 4) !== b.readUInt32BE(4)) {
      throw new DecodeError("OFPBFC_MSG_BAD_XID", at + 4, "inner and outer transaction id differ");
    }
    return stop;
  },
};

/** Properties after the message added, which is padded to 8 bytes only when some follow. */
const trailingProperties: Codec<readonly BundleProperty[]> = {
  ...properties,
  write: (w, list) => {
    if (list.length === 0) return;
    w.writeBuffer(Buffer.alloc((8 - (w.writeOffset % 8)) % 8));
    properties.write(w, list);
  },
  parser: (p, name) => p.buffer(name, { readUntil: "eof" }),
  // Properties are multiples of 8 bytes, so what is beyond one is the padding.
  lift: (raw) => properties.decode((raw as Buffer).subarray((raw as Buffer).length % 8)),
  fence: (b, at, end) => properties.fence(b, at + ((end - at) % 8), end),
};

export const bundleAddMessage = experimenterMessage(
  onf,
  2301,
  "bundle_add_message",
  "ONFT_BUNDLE_ADD_MESSAGE",
  { bundleId: u32, _: pad(2), flags: u16, message: added, properties: trailingProperties },
  { base: 24 },
);

const forwarded = innerMessage([groupMod, meterMod], { version: "OFPBRC_BAD_VERSION", length: "OFPBRC_BAD_LEN" });

/** OFPT_REQUESTFORWARD of OpenFlow 1.4 (§7.4.6 there): another controller's GROUP_MOD or METER_MOD. */
export const requestforward = experimenterMessage(
  onf,
  2350,
  "requestforward",
  "ONFT_REQUESTFORWARD",
  {
    message: {
      ...forwarded,
      write: (w, m) => {
        const start = w.writeOffset;
        forwarded.write(w, m);
        w.writeBuffer(Buffer.alloc((8 - ((w.writeOffset - start) % 8)) % 8));
      },
    } satisfies typeof forwarded,
  },
  { base: 16, unit: 8, trailing: true },
);
