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
import { bundleAddText, helloText } from "./print-handshake.ts";
import { bodyText } from "./printers.ts";

/**
 * A message, or bytes that should be one, as `ovs-ofctl ofp-print` prints it, without the newline at the end. Bytes that
 * would be refused give the error's name and a hex dump.
 */
export function formatMessage(message: Buffer | Message): string {
  return print(Buffer.isBuffer(message) ? message : encode(message)).trimEnd();
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

const refusal = (code: string, b: Buffer): string => `***decode error: ${code}***\n${hexDump(b)}`;

function print(b: Buffer): string {
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
    return def && lengthFits(def, length) ? `${heading(b, name)}${ofVersion(b, def)}` : refusal("OFPBRC_BAD_LEN", b);
  }
  if (v !== OFP_VERSION) return refusal(name === undefined ? "OFPBRC_BAD_TYPE" : "OFPBRC_BAD_VERSION", b);
  if (!def || name === undefined) return refusal(unknownCode(b), b);
  if (!lengthFits(def, length)) return refusal("OFPBRC_BAD_LEN", b);
  return `${heading(b, name)}${known(b, def)}`;
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
function ofVersion(b: Buffer, def: AnyMessageDef): string {
  const same = Buffer.from(b);
  same[0] = OFP_VERSION;
  return def.name === "hello" ? known(b, def) : known(same, def);
}

function known(b: Buffer, def: AnyMessageDef): string {
  const decoded = decode(b);
  if (def.name === "bundle_add_message")
    return bundleAdd(b, decoded.ok ? checkMessage(decoded.message) : decoded.error);
  if (!decoded.ok) return ` ${refusal(decoded.error.code, b)}`;
  const { message } = decoded;
  const error = checkMessage(message);
  if (error) return ` ${refusal(error.code, b)}`;
  switch (message.type) {
    case "hello":
      return helloText(message, b[0] as number, b);
    case "error":
      return errorText(b, message.error);
    case "unknown":
    case "bundle_add_message":
      return "";
    default:
      return bodyText(message);
  }
}

const BUNDLE_HEADER = 24;

/** What is wrong inside the message added shows in its own text. */
function bundleAdd(b: Buffer, error: DecodeError | undefined): string {
  if (error?.code.startsWith("OFPBFC_")) return ` ${refusal(error.code, b)}`;
  const length = b.readUInt16BE(BUNDLE_HEADER + 2);
  const inner = b.subarray(BUNDLE_HEADER, BUNDLE_HEADER + length);
  return `${bundleAddText(b.readUInt32BE(16), b.readUInt16BE(22))}${print(inner)}`;
}

const TEXT_ERRORS = ["OFPHFC_INCOMPATIBLE", "OFPHFC_EPERM"];

function errorText(b: Buffer, error: MessageOfType<"error">["error"]): string {
  const name = errorNameOf(error);
  if (name === undefined) return ` ${refusal("OFPBRC_BAD_LEN", b)}`;
  return ` ${name}\n${TEXT_ERRORS.includes(name) ? printable(error.data) : print(error.data)}`;
}
