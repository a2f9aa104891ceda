import { pad, u8, u32, u64 } from "../schema/codec.ts";
import { propertyRules } from "../schema/property.ts";
import { struct } from "../schema/struct.ts";
import { tlvList, variant } from "../schema/tlv.ts";
import { Experimenter, experimenterMessage, message } from "./define.ts";

const { nicira, onf } = Experimenter;

/** OFPCR_ROLE_*. */
export const Role = { nochange: 0, equal: 1, primary: 2, secondary: 3 } as const;

const roleBody = { role: u32, _: pad(4), generationId: u64 } as const;
/** OF1.3.5 §7.3.9. */
export const roleRequest = message(24, "role_request", "OFPT_ROLE_REQUEST", roleBody);
export const roleReply = message(25, "role_reply", "OFPT_ROLE_REPLY", roleBody);
export const nxtRoleRequest = experimenterMessage(nicira, 10, "nxt_role_request", "NXT_ROLE_REQUEST", { role: u32 });
export const nxtRoleReply = experimenterMessage(nicira, 11, "nxt_role_reply", "NXT_ROLE_REPLY", { role: u32 });

/** OFPT_ROLE_STATUS of OpenFlow 1.4 (§7.4.4 there) as an ONF extension. */
export const roleStatus = experimenterMessage(
  onf,
  1911,
  "role_status",
  "ONFT_ROLE_STATUS",
  { role: u32, reason: u8, _: pad(3), generationId: u64 },
  { unit: 8, trailing: true },
);

/** One bitmap of reasons for connections in the equal or primary role, one for secondary. */
const masks = struct({ primary: u32, secondary: u32 });
const async = { packetIn: masks, portStatus: masks, flowRemoved: masks } as const;
/** OF1.3.5 §7.3.10. */
export const getAsyncRequest = message(26, "get_async_request", "OFPT_GET_ASYNC_REQUEST", {});
export const getAsyncReply = message(27, "get_async_reply", "OFPT_GET_ASYNC_REPLY", async);
export const setAsync = message(28, "set_async", "OFPT_SET_ASYNC", async);
export const nxtSetAsyncConfig = experimenterMessage(nicira, 19, "nxt_set_async_config", "NXT_SET_ASYNC_CONFIG", async);

const none = (): string => "";
const reasons = { mask: u32 } as const;
/** Properties of NXT_SET_ASYNC_CONFIG2, which carries OFPT_SET_ASYNC of OpenFlow 1.4. */
const asyncProperties = [
  variant(0, "packet_in_secondary", reasons, none),
  variant(1, "packet_in_primary", reasons, none),
  variant(2, "port_status_secondary", reasons, none),
  variant(3, "port_status_primary", reasons, none),
  variant(4, "flow_removed_secondary", reasons, none),
  variant(5, "flow_removed_primary", reasons, none),
  variant(6, "role_status_secondary", reasons, none),
  variant(7, "role_status_primary", reasons, none),
  variant(8, "table_status_secondary", reasons, none),
  variant(9, "table_status_primary", reasons, none),
  variant(10, "requestforward_secondary", reasons, none),
  variant(11, "requestforward_primary", reasons, none),
] as const;

export const nxtSetAsyncConfig2 = experimenterMessage(
  nicira,
  27,
  "nxt_set_async_config2",
  "NXT_SET_ASYNC_CONFIG2",
  {
    properties: tlvList(asyncProperties, propertyRules),
  },
  { unit: 8 },
);
