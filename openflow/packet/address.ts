/** ff:ff:ff:ff:ff:ff */
export const BROADCAST_MAC = 0xffff_ffff_ffff;

/** 255.255.255.255, the limited broadcast address (RFC 919). */
export const LIMITED_BROADCAST = 0xffff_ffff;

const MAC_MAX = BROADCAST_MAC;
const IPV4_MAX = 0xffff_ffff;

/** An IPv4 address with a prefix length. The address keeps its host bits: `10.0.0.1/24` names a host and its network. */
export interface Ipv4Prefix {
  /** u32 */
  readonly address: number;
  /** 0 to 32 */
  readonly length: number;
}

/**
 * Canonical text of a MAC: lower case, colons, two digits an octet.
 * @throws RangeError when the value is not a whole number of 48 bits.
 */
export const formatMac = (mac: number): string => {
  if (!Number.isInteger(mac) || mac < 0 || mac > MAC_MAX) throw new RangeError(`not a 48-bit address: ${mac}`);
  return mac
    .toString(16)
    .padStart(12, "0")
    .replace(/..(?=.)/g, "$&:");
};

/** Six octets of two hexadecimal digits, joined by colons or by dashes, not by both. Anything else is undefined. */
export const parseMac = (text: string): number | undefined => {
  if (!/^[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}$/i.test(text)) return undefined;
  return Number.parseInt(text.replaceAll(/[:-]/g, ""), 16);
};

/**
 * Dotted-decimal text of an IPv4 address.
 * @throws RangeError when the value is not a whole number of 32 bits.
 */
export const formatIpv4 = (address: number): string => {
  if (!Number.isInteger(address) || address < 0 || address > IPV4_MAX) {
    throw new RangeError(`not a 32-bit address: ${address}`);
  }
  return `${address >>> 24}.${(address >>> 16) & 0xff}.${(address >>> 8) & 0xff}.${address & 0xff}`;
};

/**
 * Four decimal octets. A leading zero is refused, because some readers take `010` for eight:
 * an address that means two things is worse than an error.
 */
export const parseIpv4 = (text: string): number | undefined => {
  const octets = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1);
  if (octets === undefined) return undefined;
  let address = 0;
  for (const octet of octets) {
    const value = Number(octet);
    if (value > 255 || (octet.length > 1 && octet.startsWith("0"))) return undefined;
    address = address * 256 + value;
  }
  return address;
};

/** `address/length`; both parts are needed. */
export const parsePrefix = (text: string): Ipv4Prefix | undefined => {
  const parts = /^([^/]+)\/(\d{1,2})$/.exec(text);
  if (parts === null) return undefined;
  const address = parseIpv4(parts[1]!);
  const digits = parts[2]!;
  const length = Number(digits);
  if (address === undefined || length > 32 || (digits.length > 1 && digits.startsWith("0"))) return undefined;
  return { address, length };
};

/** `address/length` with the host bits as they are. */
export const formatPrefix = (prefix: Ipv4Prefix): string => `${formatIpv4(prefix.address)}/${prefix.length}`;

/** Network mask of a prefix length, as a u32. */
export const prefixMask = (length: number): number => (length === 0 ? 0 : (IPV4_MAX << (32 - length)) >>> 0);

/** The prefix's address with its host bits cleared. */
export const prefixNetwork = ({ address, length }: Ipv4Prefix): number => (address & prefixMask(length)) >>> 0;

/**
 * The directed broadcast address, or undefined for /31 and /32, which have none (RFC 3021).
 */
export const prefixBroadcast = (prefix: Ipv4Prefix): number | undefined =>
  prefix.length > 30 ? undefined : (prefixNetwork(prefix) | ~prefixMask(prefix.length)) >>> 0;

/** Whether the address lies inside the prefix. */
export const prefixContains = (prefix: Ipv4Prefix, address: number): boolean =>
  (address & prefixMask(prefix.length)) >>> 0 === prefixNetwork(prefix);

/** Group bit set (multicast and broadcast, IEEE 802). */
export const isGroupMac = (mac: number): boolean => Math.floor(mac / 2 ** 40) % 2 === 1;

/** An address one station can have: neither a group address nor all zero. */
export const isStationMac = (mac: number): boolean => mac !== 0 && !isGroupMac(mac);

/** 224.0.0.0/4 */
export const isMulticastIpv4 = (address: number): boolean => address >>> 28 === 0xe;

/**
 * An address one host can have: not 0.0.0.0/8, not loopback, not multicast, not 240.0.0.0/4
 * (RFC 1812 §5.3.7). Directed broadcasts cannot be told without knowing the networks.
 */
export const isHostIpv4 = (address: number): boolean => {
  const first = address >>> 24;
  return first !== 0 && first !== 127 && first < 224;
};
