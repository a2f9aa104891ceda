import type { DecodeError } from "./errors.ts";
import type { MessageOfType } from "./messages/all.ts";
import { Experimenter } from "./messages/define.ts";

/**
 * Error names of Open vSwitch by OFPET type and code (OF1.3.5 §7.5.4): the index of a type is its number, that of a name
 * in it its code.
 */
const standard: readonly (readonly string[])[] = [
  // 0: OFPET_HELLO_FAILED
  ["OFPHFC_INCOMPATIBLE", "OFPHFC_EPERM"],
  // 1: OFPET_BAD_REQUEST
  [
    "OFPBRC_BAD_VERSION",
    "OFPBRC_BAD_TYPE",
    "OFPBRC_BAD_STAT",
    "OFPBRC_BAD_VENDOR",
    "OFPBRC_BAD_SUBTYPE",
    "OFPBRC_EPERM",
    "OFPBRC_BAD_LEN",
    "OFPBRC_BUFFER_EMPTY",
    "OFPBRC_BUFFER_UNKNOWN",
    "OFPBRC_BAD_TABLE_ID",
    "OFPBRC_IS_SECONDARY",
    "OFPBRC_BAD_PORT",
    "OFPBRC_BAD_PACKET",
    "OFPBRC_MULTIPART_BUFFER_OVERFLOW",
  ],
  // 2: OFPET_BAD_ACTION
  [
    "OFPBAC_BAD_TYPE",
    "OFPBAC_BAD_LEN",
    "OFPBAC_BAD_VENDOR",
    "OFPBAC_BAD_VENDOR_TYPE",
    "OFPBAC_BAD_OUT_PORT",
    "OFPBAC_BAD_ARGUMENT",
    "OFPBAC_EPERM",
    "OFPBAC_TOO_MANY",
    "OFPBAC_BAD_QUEUE",
    "OFPBAC_BAD_OUT_GROUP",
    "OFPBAC_MATCH_INCONSISTENT",
    "OFPBAC_UNSUPPORTED_ORDER",
    "OFPBAC_BAD_TAG",
    "OFPBAC_BAD_SET_TYPE",
    "OFPBAC_BAD_SET_LEN",
    "OFPBAC_BAD_SET_ARGUMENT",
  ],
  // 3: OFPET_BAD_INSTRUCTION
  [
    "OFPBIC_UNKNOWN_INST",
    "OFPBIC_UNSUP_INST",
    "OFPBIC_BAD_TABLE_ID",
    "OFPBIC_UNSUP_METADATA",
    "OFPBIC_UNSUP_METADATA_MASK",
    "OFPBIC_BAD_EXPERIMENTER",
    "OFPBIC_BAD_EXP_TYPE",
    "OFPBIC_BAD_LEN",
    "OFPBIC_EPERM",
  ],
  // 4: OFPET_BAD_MATCH
  [
    "OFPBMC_BAD_TYPE",
    "OFPBMC_BAD_LEN",
    "OFPBMC_BAD_TAG",
    "OFPBMC_BAD_DL_ADDR_MASK",
    "OFPBMC_BAD_NW_ADDR_MASK",
    "OFPBMC_BAD_WILDCARDS",
    "OFPBMC_BAD_FIELD",
    "OFPBMC_BAD_VALUE",
    "OFPBMC_BAD_MASK",
    "OFPBMC_BAD_PREREQ",
    "OFPBMC_DUP_FIELD",
    "OFPBMC_EPERM",
  ],
  // 5: OFPET_FLOW_MOD_FAILED
  [
    "OFPFMFC_UNKNOWN",
    "OFPFMFC_TABLE_FULL",
    "OFPFMFC_BAD_TABLE_ID",
    "OFPFMFC_OVERLAP",
    "OFPFMFC_EPERM",
    "OFPFMFC_BAD_TIMEOUT",
    "OFPFMFC_BAD_COMMAND",
    "OFPFMFC_BAD_FLAGS",
  ],
  // 6: OFPET_GROUP_MOD_FAILED
  [
    "OFPGMFC_GROUP_EXISTS",
    "OFPGMFC_INVALID_GROUP",
    "OFPGMFC_WEIGHT_UNSUPPORTED",
    "OFPGMFC_OUT_OF_GROUPS",
    "OFPGMFC_OUT_OF_BUCKETS",
    "OFPGMFC_CHAINING_UNSUPPORTED",
    "OFPGMFC_WATCH_UNSUPPORTED",
    "OFPGMFC_LOOP",
    "OFPGMFC_UNKNOWN_GROUP",
    "OFPGMFC_CHAINED_GROUP",
    "OFPGMFC_BAD_TYPE",
    "OFPGMFC_BAD_COMMAND",
    "OFPGMFC_BAD_BUCKET",
    "OFPGMFC_BAD_WATCH",
    "OFPGMFC_EPERM",
  ],
  // 7: OFPET_PORT_MOD_FAILED
  ["OFPPMFC_BAD_PORT", "OFPPMFC_BAD_HW_ADDR", "OFPPMFC_BAD_CONFIG", "OFPPMFC_BAD_ADVERTISE", "OFPPMFC_EPERM"],
  // 8: OFPET_TABLE_MOD_FAILED
  ["OFPTMFC_BAD_TABLE", "OFPTMFC_BAD_CONFIG", "OFPTMFC_EPERM"],
  // 9: OFPET_QUEUE_OP_FAILED
  ["OFPQOFC_BAD_PORT", "OFPQOFC_BAD_QUEUE", "OFPQOFC_EPERM"],
  // 10: OFPET_SWITCH_CONFIG_FAILED
  ["OFPSCFC_BAD_FLAGS", "OFPSCFC_BAD_LEN", "OFPSCFC_EPERM"],
  // 11: OFPET_ROLE_REQUEST_FAILED
  ["OFPRRFC_STALE", "OFPRRFC_UNSUP", "OFPRRFC_BAD_ROLE"],
  // 12: OFPET_METER_MOD_FAILED
  [
    "OFPMMFC_UNKNOWN",
    "OFPMMFC_METER_EXISTS",
    "OFPMMFC_INVALID_METER",
    "OFPMMFC_UNKNOWN_METER",
    "OFPMMFC_BAD_COMMAND",
    "OFPMMFC_BAD_FLAGS",
    "OFPMMFC_BAD_RATE",
    "OFPMMFC_BAD_BURST",
    "OFPMMFC_BAD_BAND",
    "OFPMMFC_BAD_BAND_VALUE",
    "OFPMMFC_OUT_OF_METERS",
    "OFPMMFC_OUT_OF_BANDS",
  ],
  // 13: OFPET_TABLE_FEATURES_FAILED
  [
    "OFPTFFC_BAD_TABLE",
    "OFPTFFC_BAD_METADATA",
    "OFPBPC_BAD_TYPE",
    "OFPBPC_BAD_LEN",
    "OFPBPC_BAD_VALUE",
    "OFPTFFC_EPERM",
  ],
];

/** Errors that OpenFlow 1.3 has no number for, by the type Nicira or ONF gave them. */
const extended: readonly { readonly experimenter: number; readonly names: Readonly<Record<number, string>> }[] = [
  {
    experimenter: Experimenter.nicira,
    names: {
      2: "NXBRC_NXM_INVALID",
      3: "NXBRC_NXM_BAD_TYPE",
      4: "NXBRC_MUST_BE_ZERO",
      5: "NXBRC_BAD_REASON",
      6: "OFPMOFC_MONITOR_EXISTS",
      7: "OFPMOFC_BAD_FLAGS",
      8: "OFPMOFC_UNKNOWN_MONITOR",
      9: "NXBRC_FM_BAD_EVENT",
      10: "NXBRC_UNENCODABLE_ERROR",
      11: "NXBAC_MUST_BE_ZERO",
      12: "NXFMFC_HARDWARE",
      13: "NXFMFC_BAD_TABLE_ID",
      15: "NXBAC_BAD_CONJUNCTION",
      16: "NXTTMFC_BAD_COMMAND",
      17: "NXTTMFC_BAD_OPT_LEN",
      18: "NXTTMFC_BAD_FIELD_IDX",
      19: "NXTTMFC_TABLE_FULL",
      20: "NXTTMFC_ALREADY_MAPPED",
      21: "NXTTMFC_DUP_ENTRY",
      34: "NXR_NOT_SUPPORTED",
      35: "NXR_STALE",
      36: "NXST_NOT_CONFIGURED",
      37: "NXFMFC_INVALID_TLV_FIELD",
      38: "NXTTMFC_INVALID_TLV_DEL",
      39: "NXBAC_BAD_HEADER_TYPE",
      40: "NXBAC_UNKNOWN_ED_PROP",
      41: "NXBAC_BAD_ED_PROP",
      42: "NXBAC_CT_DATAPATH_SUPPORT",
      43: "NXBMC_CT_DATAPATH_SUPPORT",
      44: "NXTFFC_DUP_TABLE",
    },
  },
  {
    experimenter: Experimenter.onf,
    names: {
      2300: "OFPBFC_UNKNOWN",
      2301: "OFPBFC_EPERM",
      2302: "OFPBFC_BAD_ID",
      2303: "OFPBFC_BUNDLE_EXIST",
      2304: "OFPBFC_BUNDLE_CLOSED",
      2305: "OFPBFC_OUT_OF_BUNDLES",
      2306: "OFPBFC_BAD_TYPE",
      2307: "OFPBFC_BAD_FLAGS",
      2308: "OFPBFC_MSG_BAD_LEN",
      2309: "OFPBFC_MSG_BAD_XID",
      2310: "OFPBFC_MSG_UNSUP",
      2311: "OFPBFC_MSG_CONFLICT",
      2312: "OFPBFC_MSG_TOO_MANY",
      2313: "OFPBFC_MSG_FAILED",
      2314: "OFPBFC_TIMEOUT",
      2315: "OFPBFC_BUNDLE_IN_PROGRESS",
      2360: "OFPFMFC_BAD_PRIORITY",
      2370: "OFPACFC_INVALID",
      2371: "OFPACFC_UNSUPPORTED",
      2372: "OFPACFC_EPERM",
      2600: "OFPBIC_DUP_INST",
      2640: "OFPBRC_MULTIPART_REQUEST_TIMEOUT",
      2641: "OFPBRC_MULTIPART_REPLY_TIMEOUT",
      4250: "OFPBAC_BAD_SET_MASK",
      4443: "OFPBPC_TOO_MANY",
      4444: "OFPBPC_DUP_TYPE",
      4445: "OFPBPC_BAD_EXPERIMENTER",
      4446: "OFPBPC_BAD_EXP_TYPE",
      4447: "OFPBPC_BAD_EXP_VALUE",
      4448: "OFPBPC_EPERM",
    },
  },
];

/** How an OFPT_ERROR of OpenFlow 1.3 carries an error. With an experimenter, `code` is the experimenter's type. */
export interface ErrorCode {
  readonly errorType: number;
  readonly code: number;
  readonly experimenter?: number;
}

const EXPERIMENTER_ERROR = 0xffff;
const byName = new Map<string, ErrorCode>();
standard.forEach((names, errorType) => {
  for (const [code, name] of names.entries()) byName.set(name, { errorType, code });
});
for (const { experimenter, names } of extended) {
  for (const [code, name] of Object.entries(names)) {
    byName.set(name, { errorType: EXPERIMENTER_ERROR, code: Number(code), experimenter });
  }
}

/** Numbers of an error by its Open vSwitch name; absent for one OpenFlow 1.3 cannot carry. */
export const errorCodeOf = (name: string): ErrorCode | undefined => byName.get(name);

/** Open vSwitch's name of an error; absent for one it does not know. */
export function errorNameOf(error: ErrorCode): string | undefined {
  if (error.errorType !== EXPERIMENTER_ERROR) return standard[error.errorType]?.[error.code];
  return extended.find((e) => e.experimenter === error.experimenter)?.names[error.code];
}

/** Every error name OpenFlow 1.3 can carry. */
export const errorNames: readonly string[] = [...byName.keys()];

/** What Open vSwitch sends for an error that this version cannot express. */
const UNENCODABLE = "NXBRC_UNENCODABLE_ERROR";
/** Bytes of the refused message to send back (OF1.3.5 §7.5.4 asks for at least as many). */
const QUOTED = 64;

/** The OFPT_ERROR that refuses `request`; `xid` is the request's. */
export function errorReply(error: Pick<DecodeError, "code">, request: Buffer, xid: number): MessageOfType<"error"> {
  const code = byName.get(error.code) ?? (byName.get(UNENCODABLE) as ErrorCode);
  return { type: "error", xid, error: { ...code, data: request.subarray(0, QUOTED) } };
}
