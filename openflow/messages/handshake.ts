import { need, pad, rest, restBytes, u8, u16, u32, u64, type Writer } from "../schema/codec.ts";
import { message } from "./define.ts";

/** An element of a HELLO (OF1.3.5 §7.5.1). */
export type HelloElement =
  /** Bit n of word w stands for version 32·w + n. */
  | { readonly kind: "versionbitmap"; readonly bitmaps: readonly number[] }
  | { readonly kind: "unknown"; readonly elementType: number; readonly body: Buffer }
  /** Bytes after the last whole element. A HELLO must be understood across versions, so they are no error. */
  | { readonly kind: "trailing"; readonly body: Buffer };

const VERSION_BITMAP = 1;
const padded = (n: number): number => Math.ceil(n / 8) * 8;

function writeElements(w: Writer, elements: readonly HelloElement[]): void {
  for (const e of elements) {
    if (e.kind === "trailing") {
      w.writeBuffer(e.body);
      continue;
    }
    const length = 4 + (e.kind === "versionbitmap" ? e.bitmaps.length * 4 : e.body.length);
    w.writeUInt16BE(e.kind === "versionbitmap" ? VERSION_BITMAP : e.elementType);
    w.writeUInt16BE(length);
    if (e.kind === "versionbitmap") for (const word of e.bitmaps) w.writeUInt32BE(word);
    else w.writeBuffer(e.body);
    w.writeBuffer(Buffer.alloc(padded(length) - length));
  }
}

function readElements(b: Buffer): HelloElement[] {
  const elements: HelloElement[] = [];
  let at = 0;
  while (at < b.length) {
    const length = b.length - at < 4 ? 0 : b.readUInt16BE(at + 2);
    const stop = at + padded(length);
    if (length < 4 || stop > b.length) {
      elements.push({ kind: "trailing", body: b.subarray(at) });
      break;
    }
    const elementType = b.readUInt16BE(at);
    const body = b.subarray(at + 4, at + length);
    if (elementType === VERSION_BITMAP && body.length % 4 === 0) {
      const bitmaps: number[] = [];
      for (let i = 0; i < body.length; i += 4) bitmaps.push(body.readUInt32BE(i));
      elements.push({ kind: "versionbitmap", bitmaps });
    } else elements.push({ kind: "unknown", elementType, body });
    at = stop;
  }
  return elements;
}

/** OF1.3.5 §7.5.1. Its `version` (header) is the one message version that may differ from 4. */
export const hello = message(0, "hello", "OFPT_HELLO", {
  elements: rest<readonly HelloElement[]>({ write: writeElements, read: readElements }),
});

const EXPERIMENTER_ERROR = 0xffff;

/**
 * Type and code of an OFPT_ERROR; an error of an experimenter has the experimenter's type in `code` and its id
 * besides. `data` is the beginning of the refused message, or text for OFPET_HELLO_FAILED.
 */
export interface ErrorBody {
  readonly errorType: number;
  readonly code: number;
  readonly experimenter?: number;
  readonly data: Buffer;
}

/** OF1.3.5 §7.5.4. */
export const error = message(
  1,
  "error",
  "OFPT_ERROR",
  {
    error: rest<ErrorBody>({
      min: 4,
      write: (w, v) => {
        w.writeUInt16BE(v.errorType);
        w.writeUInt16BE(v.code);
        if (v.experimenter !== undefined) w.writeUInt32BE(v.experimenter);
        w.writeBuffer(v.data);
      },
      read: (b) => {
        const errorType = b.readUInt16BE(0);
        const code = b.readUInt16BE(2);
        return errorType === EXPERIMENTER_ERROR
          ? { errorType, code, experimenter: b.readUInt32BE(4), data: b.subarray(8) }
          : { errorType, code, data: b.subarray(4) };
      },
      check: (b, at, end) => {
        if (b.readUInt16BE(at) === EXPERIMENTER_ERROR) need(at, 8, end);
      },
    }),
  },
  { base: 12 },
);

export const echoRequest = message(2, "echo_request", "OFPT_ECHO_REQUEST", { data: restBytes });
export const echoReply = message(3, "echo_reply", "OFPT_ECHO_REPLY", { data: restBytes });

export const featuresRequest = message(5, "features_request", "OFPT_FEATURES_REQUEST", {});
/** OF1.3.5 §7.3.1. */
export const featuresReply = message(6, "features_reply", "OFPT_FEATURES_REPLY", {
  datapathId: u64,
  nBuffers: u32,
  nTables: u8,
  auxiliaryId: u8,
  _: pad(2),
  capabilities: u32,
  reserved: u32,
});

const switchConfig = { flags: u16, missSendLen: u16 } as const;
export const getConfigRequest = message(7, "get_config_request", "OFPT_GET_CONFIG_REQUEST", {});
export const getConfigReply = message(8, "get_config_reply", "OFPT_GET_CONFIG_REPLY", switchConfig);
/** OF1.3.5 §7.3.2; the low two bits of `flags` say what becomes of IP fragments. */
export const setConfig = message(9, "set_config", "OFPT_SET_CONFIG", switchConfig);

export const barrierRequest = message(20, "barrier_request", "OFPT_BARRIER_REQUEST", {});
export const barrierReply = message(21, "barrier_reply", "OFPT_BARRIER_REPLY", {});
