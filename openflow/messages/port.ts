import { mac, pad, str, u8, u32, u64 } from "../schema/codec.ts";
import { listOf, struct } from "../schema/struct.ts";
import { MULTIPART_REPLY, MULTIPART_REQUEST, message, multipart } from "./define.ts";

/** OFPP_*, port numbers with a meaning of their own. */
export const Port = {
  max: 0xffff_ff00,
  inPort: 0xffff_fff8,
  table: 0xffff_fff9,
  normal: 0xffff_fffa,
  flood: 0xffff_fffb,
  all: 0xffff_fffc,
  controller: 0xffff_fffd,
  local: 0xffff_fffe,
  any: 0xffff_ffff,
} as const;

/** OFPPR_*. */
export const PortReason = { add: 0, delete: 1, modify: 2 } as const;

const portFields = {
  portNo: u32,
  _a: pad(4),
  hwAddr: mac,
  _b: pad(2),
  name: str(16),
  config: u32,
  state: u32,
  curr: u32,
  advertised: u32,
  supported: u32,
  peer: u32,
  /** Kilobits per second. */
  currSpeed: u32,
  maxSpeed: u32,
} as const;
const port = struct(portFields);

/** OF1.3.5 §7.4.3. */
export const portStatus = message(12, "port_status", "OFPT_PORT_STATUS", { reason: u8, _: pad(7), port });

/** OF1.3.5 §7.3.4.3. */
export const portMod = message(16, "port_mod", "OFPT_PORT_MOD", {
  portNo: u32,
  _a: pad(4),
  hwAddr: mac,
  _b: pad(2),
  config: u32,
  mask: u32,
  advertise: u32,
  _c: pad(4),
});

/** OF1.3.5 §7.3.5.7. */
export const portDescRequest = multipart(MULTIPART_REQUEST, 13, "port_desc_request", "OFPST_PORT_DESC request", {});
export const portDescReply = multipart(
  MULTIPART_REPLY,
  13,
  "port_desc_reply",
  "OFPST_PORT_DESC reply",
  { ports: listOf(port) },
  { unit: 64 },
);

/** OF1.3.5 §7.3.5.6. */
export const portStatsRequest = multipart(MULTIPART_REQUEST, 4, "port_stats_request", "OFPST_PORT request", {
  portNo: u32,
  _: pad(4),
});
export const portStatsReply = multipart(
  MULTIPART_REPLY,
  4,
  "port_stats_reply",
  "OFPST_PORT reply",
  {
    ports: listOf(
      struct({
        portNo: u32,
        _: pad(4),
        rxPackets: u64,
        txPackets: u64,
        rxBytes: u64,
        txBytes: u64,
        rxDropped: u64,
        txDropped: u64,
        rxErrors: u64,
        txErrors: u64,
        rxFrameErr: u64,
        rxOverErr: u64,
        rxCrcErr: u64,
        collisions: u64,
        durationSec: u32,
        durationNsec: u32,
      }),
    ),
  },
  { unit: 112 },
);
