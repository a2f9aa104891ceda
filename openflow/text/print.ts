import { checkMessage } from "../check-message.ts";
import { decode, encode, readHeader } from "../codec.ts";
import type { DecodeError } from "../errors.ts";
import { errorNameOf } from "../errors-of.ts";
import { type Message, type MessageOfType, messages } from "../messages/all.ts";
import {
  type AnyMessageDef,
  EXPERIMENTER_MESSAGE,
  HEADER_SIZE,
  lengthFits,
  MULTIPART_MORE,
  MULTIPART_REPLY,
  MULTIPART_REQUEST,
  OFP_VERSION,
} from "../messages/define.ts";
import { hexDump, printable } from "./bytes.ts";
import { bundleAddText, echoText, helloText } from "./print-handshake.ts";
import { bodyText } from "./printers.ts";

/**
 * A message, or bytes that should be one, as `ovs-ofctl ofp-print` prints it, without the newline at the end. Bytes that
 * would be refused give the error's name and a hex dump.
 */
export function formatMessage(message: Buffer | Message): string {
  return print(Buffer.isBuffer(message) ? message : encode(message), "full").trimEnd();
}

/** Names of the OFPT types OpenFlow 1.0 numbers otherwise than its successors. */
const NAMES_10 = new Map([
  [15, "OFPT_PORT_MOD"],
  [18, "OFPT_BARRIER_REQUEST"],
  [19, "OFPT_BARRIER_REPLY"],
  [20, "OFPT_QUEUE_GET_CONFIG_REQUEST"],
  [21, "OFPT_QUEUE_GET_CONFIG_REPLY"],
]);
const FIRST_OWN_10 = 15;
const VERSIONS = ["", "", " (OF1.1)", " (OF1.2)", " (OF1.3)", " (OF1.4)", " (OF1.5)"];
const NEWEST = 6;
/** HELLO, ERROR and both ECHOs: the same in every version. */
const LAST_COMMON_TYPE = 3;

const version = (v: number): string => VERSIONS[v] ?? ` (OF 0x${v.toString(16).padStart(2, "0")})`;

/** The name of the message that `b` begins with, as far as its version lets one tell. */
function nameOf(b: Buffer, def: AnyMessageDef | undefined): string | undefined {
  const [v, type] = b as unknown as [number, number];
  if (v === 0) return undefined;
  if (v === OFP_VERSION) return def?.ovsName;
  if (v > NEWEST && type > LAST_COMMON_TYPE) return undefined;
  if (v === 1 && type >= FIRST_OWN_10) return NAMES_10.get(type);
  return type === EXPERIMENTER_MESSAGE || isMultipart(type) ? undefined : def?.ovsName;
}

const isMultipart = (type: number): boolean => type === MULTIPART_REQUEST || type === MULTIPART_REPLY;

function heading(b: Buffer, name: string): string {
  const { version: v, type, xid } = readHeader(b);
  const title = `${name}${version(v)} (xid=0x${xid.toString(16)}):`;
  const flags = v === OFP_VERSION && isMultipart(type) && b.length >= 12 ? b.readUInt16BE(10) : 0;
  if (flags === 0) return title;
  const more = (flags & MULTIPART_MORE) === 0 ? "" : "[more]";
  const others = flags & ~MULTIPART_MORE;
  return `${title} flags=${more}${others === 0 ? "" : `[***unknown flags 0x${others.toString(16).padStart(4, "0")}***]`}`;
}

/** After text of its own line a refusal begins a new one; after a bare heading it does not. */
const separator = (title: string): string => (title.endsWith(":") ? " " : "\n");

const refusal = (code: string, b: Buffer): string => `***decode error: ${code}***\n${hexDump(b)}`;

/** A message an error quotes is printed in less detail than one on its own. */
type Detail = "full" | "quoted";

function print(b: Buffer, detail: Detail): string {
  if (b.length === 0) return "OpenFlow message is empty\n";
  if (b.length < HEADER_SIZE) return `OpenFlow packet too short (only ${b.length} bytes):\n${hexDump(b)}`;
  const { length, version: v, type } = readHeader(b);
  const def = definition(b);
  const name = nameOf(b, def);
  if (length > b.length) {
    const title = name === undefined ? "" : `${heading(b, name)}\n`;
    return `${title}(***truncated to ${b.length} bytes from ${length}***)\n${hexDump(b)}`;
  }
  if (length < b.length) return `(***only uses ${length} bytes out of ${b.length}***)\n${hexDump(b)}`;
  if (v !== OFP_VERSION && name !== undefined && (type <= LAST_COMMON_TYPE || isEmptyRequest(def))) {
    return def && lengthFits(def, length) ? ofVersion(b, def, heading(b, name), detail) : refusal("OFPBRC_BAD_LEN", b);
  }
  if (v !== OFP_VERSION) return refusal(name === undefined ? "OFPBRC_BAD_TYPE" : "OFPBRC_BAD_VERSION", b);
  if (!def || name === undefined) return refusal(unknownCode(b), b);
  if (!lengthFits(def, length)) return refusal("OFPBRC_BAD_LEN", b);
  return known(b, def, heading(b, name), detail);
}

/** Kinds without a body are the same in all versions that have them. */
const isEmptyRequest = (def: AnyMessageDef | undefined): boolean =>
  def !== undefined && def.unit === 0 && def.base === HEADER_SIZE;

/** The definition of the kind; absent for kinds that Open vSwitch does not know either. */
function definition(b: Buffer): AnyMessageDef | undefined {
  const found = messages.find(b, 0, b.length);
  if (!found || found.name === "nxt_set_flow_format" || found.name.startsWith("experimenter")) return undefined;
  return found;
}

/** Why a message of no known kind is refused. */
function unknownCode(b: Buffer): string {
  const decoded = decode(b);
  if (!decoded.ok) return decoded.error.code;
  if (decoded.message.type === "unknown" && isMultipart(decoded.message.ofType) && b.length < 16) {
    return "OFPBRC_BAD_LEN";
  }
  return checkMessage(decoded.message)?.code ?? "OFPBRC_BAD_TYPE";
}

/** A message of another version whose kind does not differ from 1.3's. */
function ofVersion(b: Buffer, def: AnyMessageDef, title: string, detail: Detail): string {
  const same = Buffer.from(b);
  same[0] = OFP_VERSION;
  return known(def.name === "hello" ? b : same, def, title, detail);
}

function known(b: Buffer, def: AnyMessageDef, title: string, detail: Detail): string {
  const decoded = decode(b);
  const error = decoded.ok ? checkMessage(decoded.message) : decoded.error;
  if (def.name === "bundle_add_message") return `${title}${bundleAdd(b, error, detail)}`;
  if (error) return `${title}${refusedLate(b, def, error.code, separator(title))}`;
  if (!decoded.ok) return "";
  const { message } = decoded;
  switch (message.type) {
    case "hello":
      return `${title}${helloText(message, b[0] as number, b)}`;
    case "error":
      return `${title}${errorText(b, message.error)}`;
    case "echo_request":
    case "echo_reply":
      return `${title}${echoText(message.data, detail === "full")}`;
    case "unknown":
    case "bundle_add_message":
      return title;
    default:
      return `${title}${bodyText(message)}`;
  }
}

/** Where the records of these messages begin, and how long the one at `at` is. */
interface Records {
  readonly start: number;
  /** Bytes of a record that must be there to tell its length. */
  readonly head: number;
  readonly length: (b: Buffer, at: number) => number;
}
const lengthIn = (start: number, offset: number): Records => ({
  start,
  head: offset + 2,
  length: (b, at) => b.readUInt16BE(at + offset),
});
const MONITOR = 16;
const RECORDS: Readonly<Record<string, Records>> = {
  flow_stats_reply: lengthIn(16, 0),
  group_desc_reply: lengthIn(16, 0),
  meter_stats_reply: lengthIn(16, 4),
  meter_config_reply: lengthIn(16, 0),
  queue_get_config_reply: lengthIn(16, 8),
  table_features_reply: lengthIn(16, 0),
  flow_monitor_reply: lengthIn(24, 0),
  // Requests end with their match, which is padded.
  flow_monitor_request: {
    start: 24,
    head: MONITOR + 4,
    length: (b, at) => MONITOR + Math.ceil(b.readUInt16BE(at + MONITOR + 2) / 8) * 8,
  },
};

/** A refused message. Of a list of records, those before the bad one are printed first. */
function refusedLate(b: Buffer, def: AnyMessageDef, code: string, before: string): string {
  const records = RECORDS[def.name];
  if (!records) return `${before}${refusal(code, b)}`;
  const stops: number[] = [];
  for (let at = records.start; at + records.head <= b.length; ) {
    const length = records.length(b, at);
    at += length;
    if (length < 4 || at >= b.length) break;
    stops.push(at);
  }
  // A prefix of a good list is good, so the longest one is found by halving.
  let good = 0;
  for (let step = stops.length; step > 0; step = step > 1 ? Math.ceil(step / 2) : 0) {
    while (good + step <= stops.length && prefixText(b, stops[good + step - 1] as number) !== undefined) good += step;
  }
  const text = good === 0 ? undefined : prefixText(b, stops[good - 1] as number);
  return text === undefined ? `${before}${refusal(code, b)}` : `${text.trimEnd()}\n${refusal(code, b)}`;
}

/** The text of the first `length` bytes as a message of their own; absent when they are refused. */
function prefixText(b: Buffer, length: number): string | undefined {
  const part = Buffer.from(b.subarray(0, length));
  part.writeUInt16BE(length, 2);
  const decoded = decode(part);
  if (!decoded.ok || checkMessage(decoded.message)) return undefined;
  const { message } = decoded;
  return message.type in RECORDS ? bodyText(message as Parameters<typeof bodyText>[0]) : undefined;
}

const BUNDLE_HEADER = 24;

/** What is wrong inside the message added shows in its own text. */
function bundleAdd(b: Buffer, error: DecodeError | undefined, detail: Detail): string {
  if (error?.code.startsWith("OFPBFC_")) return ` ${refusal(error.code, b)}`;
  const length = b.readUInt16BE(BUNDLE_HEADER + 2);
  const inner = b.subarray(BUNDLE_HEADER, BUNDLE_HEADER + length);
  return `${bundleAddText(b.readUInt32BE(16), b.readUInt16BE(22))}${print(inner, detail)}`;
}

const TEXT_ERRORS = ["OFPHFC_INCOMPATIBLE", "OFPHFC_EPERM"];

function errorText(b: Buffer, error: MessageOfType<"error">["error"]): string {
  const name = errorNameOf(error);
  if (name === undefined) return ` ${refusal("OFPBRC_BAD_LEN", b)}`;
  return ` ${name}\n${TEXT_ERRORS.includes(name) ? printable(error.data) : print(error.data, "quoted")}`;
}
