import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describePacket, type PacketDescription } from "../../../openflow/packet/describe.ts";
import { readPcap } from "../../../openflow/packet/pcap.ts";
import type { Lab } from "../handle.ts";
import { LabError } from "../shell.ts";
import type { HostName } from "../topology.ts";

/** A captured frame. */
export interface Seen extends PacketDescription {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Flags of the TCP header (RFC 9293 §3.1). */
export const tcp = { fin: 0x01, syn: 0x02, rst: 0x04, ack: 0x10, synAck: 0x12 } as const;

let serial = 0;

/** Captures on several hosts while `during` runs, what they send and what reaches them. */
export async function onWire<T>(
  lab: Lab,
  hosts: readonly HostName[],
  during: () => Promise<T>,
  {
    filter,
    started,
  }: { readonly filter?: string | undefined; readonly started?: (stop: () => Promise<unknown>) => void },
): Promise<{ readonly wire: (host: HostName) => readonly Seen[]; readonly result: T }> {
  const run = ++serial;
  const captures = await Promise.all(
    hosts.map((host) => {
      const path = join(lab.root, `verify-${process.pid}-${run}-${host}.pcap`);
      return lab.capture(host, { path, ...(filter === undefined ? {} : { filter }) });
    }),
  );
  const stop = () => Promise.all(captures.map((capture) => capture.stop()));
  started?.(stop);
  let result: T;
  try {
    result = await during();
  } finally {
    await stop();
  }
  const frames = new Map(hosts.map((host, i) => [host, readFrames(captures[i]!.path)]));
  return { wire: (host) => frames.get(host) ?? [], result };
}

/** @throws LabError when the file is no capture. */
function readFrames(path: string): readonly Seen[] {
  const file = readPcap(readFileSync(path));
  if (file === undefined) throw new LabError(`${path} is no capture`);
  return file.packets.flatMap(({ bytes, tsMicros }) => {
    const described = describePacket(bytes);
    return described === undefined ? [] : [{ ...described, at: tsMicros / 1000, bytes }];
  });
}

/** Frames with a wrong IP or transport checksum. */
export function badChecksums(frames: readonly Seen[]): readonly Seen[] {
  return frames.filter((frame) => frame.ipChecksumOk === false || frame.l4ChecksumOk === false);
}

/** Resets of connections that had not ended: once both sides have sent a FIN, a reset tells nobody anything. */
export function cutShort(frames: readonly Seen[]): readonly Seen[] {
  const ended = new Map<string, Set<string | undefined>>();
  return frames.filter((f) => {
    const flags = f.tcpFlags ?? 0;
    const key = [`${f.ipSrc}:${f.tcpSrc}`, `${f.ipDst}:${f.tcpDst}`].sort().join(" ");
    const sides = ended.get(key) ?? new Set();
    if ((flags & tcp.fin) !== 0) ended.set(key, sides.add(f.ipSrc));
    // The same ends may meet again.
    if (flags === tcp.syn) ended.delete(key);
    return (flags & tcp.rst) !== 0 && sides.size < 2;
  });
}

/** Distinct values, sorted, as text: what a check shows of many frames. */
export function distinct(values: readonly (string | number | undefined)[]): string {
  return [...new Set(values.map(String))].sort().join(" ") || "none";
}
