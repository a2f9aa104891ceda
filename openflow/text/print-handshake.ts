import type { MessageOfType } from "../messages/all.ts";
import type { HelloElement } from "../messages/handshake.ts";
import { bitNames, hexDump, hexOrZero } from "./bytes.ts";

const MAX_VERSION = 31;

/** Versions of a HELLO as ovs-ofctl reads it, and whether everything in it was understood. */
interface HelloVersions {
  /** Bit n stands for version n; bit 0 is never set. */
  readonly bitmap: number;
  readonly understood: boolean;
}

/**
 * The versions a peer can speak (OF1.3.5 §7.5.1): those of its bitmap, or without a usable one every version up to the
 * header's.
 */
function helloVersions(elements: readonly HelloElement[], version: number): HelloVersions {
  let bitmap: number | undefined;
  let understood = true;
  for (const e of elements) {
    if (e.kind !== "versionbitmap") understood = false;
    else {
      const first = ((e.bitmaps[0] ?? 0) & ~1) >>> 0;
      if (first === 0) understood = false;
      else bitmap = first;
    }
  }
  const upTo = version >= MAX_VERSION ? 0xffff_fffe : 2 ** (version + 1) - 2;
  return { bitmap: bitmap ?? upTo, understood };
}

export function helloText(m: MessageOfType<"hello">, version: number, bytes: Buffer): string {
  const { bitmap, understood } = helloVersions(m.elements, version);
  const names: string[] = [];
  for (let v = 1; v <= MAX_VERSION; v++) {
    if (((bitmap >>> v) & 1) === 1) names.push(`0x${v.toString(16).padStart(2, "0")}`);
  }
  const rest = understood ? "" : `\n unknown data in hello:\n${hexDump(bytes)}`;
  return `\n version bitmap: ${names.join(", ")}${rest}`;
}

export const echoText = (data: Buffer, dumped: boolean): string =>
  ` ${data.length} bytes of payload\n${dumped ? hexDump(data) : ""}`;

const CAPABILITIES = [
  "FLOW_STATS",
  "TABLE_STATS",
  "PORT_STATS",
  "GROUP_STATS",
  undefined,
  "IP_REASM",
  "QUEUE_STATS",
  undefined,
  "PORT_BLOCKED",
];
const KNOWN_CAPABILITIES = 0x16f;

export const featuresText = (m: MessageOfType<"features_reply">): string =>
  ` dpid:${m.datapathId.toString(16).padStart(16, "0")}\n` +
  `n_tables:${m.nTables}, n_buffers:${m.nBuffers}${m.auxiliaryId === 0 ? "" : `, auxiliary_id:${m.auxiliaryId}`}\n` +
  `capabilities: ${bitNames(m.capabilities & KNOWN_CAPABILITIES, CAPABILITIES)}\n`;

const FRAGMENTS = ["normal", "drop", "reassemble", "nx-match"];
export const configText = (m: MessageOfType<"get_config_reply" | "set_config">): string =>
  ` frags=${FRAGMENTS[m.flags & 3]} miss_send_len=${m.missSendLen}`;

export const descText = (m: MessageOfType<"desc_reply">): string =>
  `\nManufacturer: ${m.mfrDesc}\nHardware: ${m.hwDesc}\nSoftware: ${m.swDesc}\n` +
  `Serial Num: ${m.serialNum}\nDP Description: ${m.dpDesc}\n`;

const BUNDLE_TYPES = [
  "OPEN_REQUEST",
  "OPEN_REPLY",
  "CLOSE_REQUEST",
  "CLOSE_REPLY",
  "COMMIT_REQUEST",
  "COMMIT_REPLY",
  "DISCARD_REQUEST",
  "DISCARD_REPLY",
];
const BUNDLE_FLAGS = ["atomic", "ordered"];

export const bundleControlText = (m: MessageOfType<"bundle_control">): string =>
  `\n bundle_id=${hexOrZero(m.bundleId)} type=${BUNDLE_TYPES[m.controlType] ?? ""} flags=${bitNames(m.flags, BUNDLE_FLAGS)}`;

/** What stands before the message added. */
export const bundleAddText = (id: number, flags: number): string =>
  `\n bundle_id=${hexOrZero(id)} flags=${bitNames(flags, BUNDLE_FLAGS)}\n`;
