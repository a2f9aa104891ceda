import { parseIpv4, parseMac } from "../../../openflow/packet/address.ts";
import { buildArpReply, buildArpRequest } from "../../../openflow/packet/arp.ts";
import { buildEchoFrame, buildTcpFrame, buildUdpFrame, type Path } from "../../../openflow/packet/build.ts";
import { ethernetFrame } from "../../../openflow/packet/ethernet.ts";
import { TCP_FLAG } from "../../../openflow/packet/tcp.ts";
import { LabError } from "../shell.ts";
import type { HostSpec } from "../topology.ts";
import { addressOf } from "./facts.ts";

/** Both ends as people write them. */
export interface Ends {
  readonly srcMac: string;
  readonly dstMac: string;
  readonly src: string;
  readonly dst: string;
  readonly ttl?: number;
}

/** Both ends of what a host sends, honestly, to an address by way of a MAC. */
export function from(host: HostSpec, dst: string, dstMac: string): Ends {
  return { srcMac: host.mac, src: addressOf(host), dst, dstMac };
}

/** @throws LabError for what is no MAC address. */
function macNumber(text: string): number {
  const mac = parseMac(text);
  if (mac === undefined) throw new LabError(`"${text}" is no MAC address`);
  return mac;
}

/** @throws LabError for what is no IPv4 address. */
function ipNumber(text: string): number {
  const ip = parseIpv4(text);
  if (ip === undefined) throw new LabError(`"${text}" is no IPv4 address`);
  return ip;
}

function path({ srcMac, dstMac, src, dst, ttl }: Ends): Path {
  const ends = { srcMac: macNumber(srcMac), dstMac: macNumber(dstMac), src: ipNumber(src), dst: ipNumber(dst) };
  return { ...ends, ...(ttl === undefined ? {} : { ttl }) };
}

/** "Who has `tpa`? Tell `spa`", to everybody or to one MAC. */
export function arpRequest(sha: string, spa: string, tpa: string, to?: string): Uint8Array {
  const ask = { sha: macNumber(sha), spa: ipNumber(spa), tpa: ipNumber(tpa) };
  return buildArpRequest({ ...ask, ...(to === undefined ? {} : { dst: macNumber(to) }) });
}

/** "`spa` is at `sha`", told to one host. */
export function arpReply(sha: string, spa: string, to: HostSpec): Uint8Array {
  return buildArpReply({
    sha: macNumber(sha),
    spa: ipNumber(spa),
    tha: macNumber(to.mac),
    tpa: ipNumber(addressOf(to)),
  });
}

export function tcpSyn(ends: Ends, srcPort: number, dstPort: number): Uint8Array {
  return buildTcpFrame(path(ends), {
    srcPort,
    dstPort,
    seq: 1000,
    ack: 0,
    flags: TCP_FLAG.syn,
    window: 0xffff,
    urgent: 0,
    options: new Uint8Array(0),
    payload: new Uint8Array(0),
  });
}

export function udpDatagram(ends: Ends, srcPort: number, dstPort: number): Uint8Array {
  return buildUdpFrame(path(ends), { srcPort, dstPort, payload: Buffer.from("verify") });
}

export function echoRequest(ends: Ends, id: number): Uint8Array {
  return buildEchoFrame(path(ends), { kind: "echo", id, sequence: 1, data: Buffer.from("verify") });
}

/** A frame that is neither ARP nor IP: what a switch only switches (the type is that of local experiments, IEEE 802). */
export function experimentFrame(srcMac: string, dstMac: string): Uint8Array {
  const payload = Buffer.alloc(46);
  return ethernetFrame({ dst: macNumber(dstMac), src: macNumber(srcMac), vlans: [], type: experimentType, payload });
}

export const experimentType = 0x88b5;
