/**
 * Reads just as much of an HTTP/1 answer as a health check needs: the status code of the final response. Pure; bytes may come in
 * any pieces. Interim responses (100 Continue and its like, RFC 9110 §15.2) are passed over with their header fields.
 */
import type { CodeRange, HttpProbe } from "../../pipeline/model.ts";

/** "reading": more bytes are needed. Bytes that come after the end of reading change nothing. */
export type HttpReader =
  | {
      readonly kind: "reading";
      /** What is read: the line a response begins with, or the header fields of an interim one. */
      readonly part: "status" | "fields";
      /** The line under way, one character per byte. */
      readonly line: string;
      /** Bytes read so far. */
      readonly total: number;
    }
  | { readonly kind: "status"; readonly code: number }
  | { readonly kind: "garbage"; readonly reason: string };

export const newHttpReader: HttpReader = { kind: "reading", part: "status", line: "", total: 0 };

/** A status line has a handful of bytes; even a talkative reason phrase fits. */
const MAX_LINE = 4_096;
/** Interim responses may not go on for ever. */
const MAX_TOTAL = 65_536;
const LF = 0x0a;
/** "Switching protocols" is final for somebody who did not ask for it. */
const SWITCHING = 101;

/** Start of what came instead of HTTP, fit for a log. */
const excerpt = (text: string): string => {
  const shown = text.slice(0, 40).replace(/[^ -~]/g, "?");
  return `"${shown}${text.length > 40 ? "…" : ""}"`;
};

const garbage = (what: string): HttpReader => ({ kind: "garbage", reason: `not HTTP: ${what}` });

/** RFC 9112 §4. The reason phrase is optional, and so, among servers that exist, is the space in front of it. */
const STATUS_LINE = /^HTTP\/1\.\d ([1-5]\d\d)(?: .*)?$/s;

const endOfLine = (line: string, part: "status" | "fields", total: number): HttpReader => {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (part === "fields") return { kind: "reading", part: text === "" ? "status" : "fields", line: "", total };
  const code = STATUS_LINE.exec(text)?.[1];
  if (code === undefined) return garbage(excerpt(text));
  const number = Number(code);
  if (number >= 200 || number === SWITCHING) return { kind: "status", code: number };
  return { kind: "reading", part: "fields", line: "", total };
};

const PROTOCOL = "HTTP/1.";

/** What is certain before the line has ended: a peer that speaks something else may never send a line feed. */
const begunWrong = (line: string): boolean => line.length >= PROTOCOL.length && !line.startsWith(PROTOCOL);

/** The reader after more bytes. */
export const readHttp = (reader: HttpReader, bytes: Uint8Array): HttpReader => {
  let now = reader;
  let at = 0;
  while (now.kind === "reading" && at < bytes.length) {
    const feed = bytes.indexOf(LF, at);
    const end = feed < 0 ? bytes.length : feed;
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(end - at, MAX_LINE + 1)).toString("latin1");
    const line = now.line + piece;
    const total: number = now.total + (end - at) + (feed < 0 ? 0 : 1);
    if (now.part === "status" && begunWrong(line)) {
      return garbage(`begins with ${excerpt(line.slice(0, PROTOCOL.length))}`);
    }
    if (line.length > MAX_LINE || total > MAX_TOTAL) return garbage("no end of the status line or of interim answers");
    now = feed < 0 ? { ...now, line, total } : endOfLine(line, now.part, total);
    at = end + 1;
  }
  return now;
};

/** What the end of the connection means for somebody who was still reading. */
export const closedWhile = (reader: HttpReader): string =>
  reader.kind === "reading" && reader.total === 0 ? "closed without an answer" : "closed in the middle of the answer";

export const isExpected = (codes: readonly CodeRange[], code: number): boolean =>
  codes.some((c) => code >= c.first && code <= c.last);

/**
 * The request of a probe (RFC 9112 §3). The connection is not kept: `Connection: close`, and HTTP/1.0 has no Host.
 * @param authority "ADDRESS:PORT" of the member, or the address alone for port 80; used when no host is configured.
 */
export const httpRequest = ({ method, path, version, host }: HttpProbe, authority: string): Buffer => {
  const lines = [
    `${method} ${path} HTTP/${version}`,
    ...(version === "1.0" ? [] : [`Host: ${host ?? authority}`]),
    "User-Agent: openflow-lb",
    "Accept: */*",
    "Connection: close",
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
};
