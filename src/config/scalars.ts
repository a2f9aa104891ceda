/** The scalar types of the topology file. */
import {
  formatPrefix,
  isStationMac,
  parseIpv4,
  parseMac,
  parsePrefix,
  prefixNetwork,
} from "../../openflow/packet/address.ts";
import type { CodeRange, Ipv4, Mac, Prefix } from "../../pipeline/model.ts";
import { parseStatusCodes } from "../../pipeline/status-codes.ts";
import { type Reader, scalar } from "./reader.ts";

export const ipv4: Reader<Ipv4> = scalar("an IPv4 address", "dotted quad such as 10.20.0.1", parseIpv4);

/** Switches write 0242.0a14.0001, Windows 02-42-0A-14-00-01, some tools leave out leading zeros. */
const usualMac = (text: string): string => {
  const digits = /^[0-9a-f]{12}$/i.test(text)
    ? text
    : /^([0-9a-f]{4})\.([0-9a-f]{4})\.([0-9a-f]{4})$/i.test(text)
      ? text.replaceAll(".", "")
      : /^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){5}$/i.test(text)
        ? text.replaceAll(/[^:]+/g, (octet) => octet.padStart(2, "0")).replaceAll(":", "")
        : undefined;
  return digits === undefined ? text : digits.replaceAll(/..(?=.)/g, "$&:");
};

/** A MAC one station can have, in any usual spelling. */
export const mac: Reader<Mac> = scalar(
  "a MAC address of one station",
  "such as 02:42:0a:14:00:01, neither zero nor multicast",
  (text) => {
    const value = parseMac(usualMac(text));
    return value !== undefined && isStationMac(value) ? value : undefined;
  },
);

/** A network. 10.0.0.1/24 is refused: whether the address or the network is meant would be a guess. */
export const prefix =
  (shortest: number, longest: number): Reader<Prefix> =>
  (node, at, reading) => {
    const range = `address/length such as 10.20.0.0/24, length ${shortest} to ${longest}`;
    const value = scalar("an IPv4 network", range, (text) => {
      const parsed = parsePrefix(text);
      return parsed !== undefined && parsed.length >= shortest && parsed.length <= longest ? parsed : undefined;
    })(node, at, reading);
    if (value === undefined) return undefined;
    const network = { address: prefixNetwork(value), length: value.length };
    if (network.address === value.address) return value;
    reading.report(at, `${formatPrefix(value)} has bits set behind the prefix`, formatPrefix(network));
    return undefined;
  };

export const integer = (least: number, most: number): Reader<number> =>
  scalar("a number in range", `a whole number, ${least} to ${most}`, (_, value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most ? value : undefined,
  );

/** Seconds in the file, milliseconds in the model. */
export const seconds = (least: number, most: number): Reader<number> =>
  scalar("a time in range", `seconds, ${least} to ${most}`, (_, value) =>
    typeof value === "number" && value >= least && value <= most ? Math.round(value * 1000) : undefined,
  );

export const powerOfTwo = (least: number, most: number): Reader<number> =>
  scalar("a power of two in range", `a power of two, ${least} to ${most}`, (_, value) =>
    typeof value === "number" && value >= least && value <= most && Number.isInteger(Math.log2(value))
      ? value
      : undefined,
  );

export const flag: Reader<boolean> = scalar("true or false", "true or false", (_, value) =>
  typeof value === "boolean" ? value : undefined,
);

/** One of a few words. */
export const word = <const W extends string>(...words: readonly W[]): Reader<W> =>
  scalar("a word known here", words.length === 1 ? words.join() : `one of ${words.join(", ")}`, (text) =>
    words.find((w) => w === text),
  );

/** Letters, digits and `. _ -`: a name goes into URLs, metrics labels and command lines. */
export const name: Reader<string> = scalar(
  "a name",
  "1 to 64 letters, digits or . _ -, the first one a letter or digit",
  (text) => (/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(text) ? text : undefined),
);

/** IFNAMSIZ is 16 with the final NUL; a slash or white space is refused by the kernel. */
export const portName: Reader<string> = scalar(
  "a port name",
  'at most 15 bytes without space or slash, "*" and "?" stand for any',
  (text) =>
    Buffer.byteLength(text) <= 15 && /^[^\s/:]+$/.test(text) && text !== "." && text !== ".." ? text : undefined,
);

export const datapathId: Reader<string> = scalar("a datapath id", "16 hex digits such as 00000242ac110002", (text) =>
  /^(0x)?[0-9a-f]{16}$/i.test(text) ? text.slice(-16).toLowerCase() : undefined,
);

/** A path of an HTTP request: no white space or control character, so that nothing can be smuggled into the request. */
export const httpPath: Reader<string> = scalar(
  "a path",
  'beginning with "/", printable ASCII without spaces',
  (text) => (/^\/[!-~]{0,1023}$/.test(text) ? text : undefined),
);

export const hostName: Reader<string> = scalar(
  "a host name",
  "letters, digits, dots and dashes, a port after a colon",
  (text) => (/^[a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?(:\d{1,5})?$/i.test(text) ? text : undefined),
);

export const statusCodes: Reader<readonly CodeRange[]> = scalar(
  "a list of HTTP status codes",
  "such as 200, 200-299 or 200,204, from 100 to 599",
  parseStatusCodes,
);
