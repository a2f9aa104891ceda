import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildArpReply, buildArpRequest, buildGratuitousArp } from "../../../openflow/packet/arp.ts";
import { describePacket, type PacketDescription } from "../../../openflow/packet/describe.ts";
import { parseEthernet } from "../../../openflow/packet/ethernet.ts";
import { icmpErrorFrame } from "../../../openflow/packet/icmp-error.ts";
import { writePcap } from "../../../openflow/packet/pcap.ts";
import { frame, mac, u32 } from "./arbitraries.ts";

const run = promisify(execFile);
const hasTshark = spawnSync("tshark", ["--version"]).status === 0;

const FIELDS = [
  "eth.src",
  "eth.dst",
  "vlan.id",
  "ieee8021ad.id",
  "arp.opcode",
  "arp.src.hw_mac",
  "arp.src.proto_ipv4",
  "arp.dst.hw_mac",
  "arp.dst.proto_ipv4",
  "ip.src",
  "ip.dst",
  "ip.ttl",
  "ip.proto",
  "ip.id",
  "ip.flags.df",
  "ip.flags.mf",
  "ip.frag_offset",
  "ip.checksum.status",
  "tcp.checksum.status",
  "udp.checksum.status",
  "icmp.checksum.status",
  "tcp.srcport",
  "tcp.dstport",
  "tcp.flags",
  "tcp.seq_raw",
  "tcp.ack_raw",
  "tcp.len",
  "udp.srcport",
  "udp.dstport",
  "icmp.type",
  "icmp.code",
] as const;

type Row = Readonly<Record<(typeof FIELDS)[number], string>>;

// Only the outermost occurrence of a field counts (the quotes in ICMP errors have headers of their own), every
// checksum is verified, and pieces stay pieces: each frame stands for itself here.
const OPTIONS = [
  "ip.check_checksum:TRUE",
  "tcp.check_checksum:TRUE",
  "udp.check_checksum:TRUE",
  "ip.defragment:FALSE",
  "tcp.desegment_tcp_streams:FALSE",
  "tcp.relative_sequence_numbers:FALSE",
].flatMap((option) => ["-o", option]);

const tshark = async (frames: readonly Uint8Array[]): Promise<readonly Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), "packet-oracle-"));
  try {
    const file = join(folder, "packets.pcap");
    await writeFile(file, writePcap(frames.map((bytes, index) => ({ tsMicros: index, bytes }))));
    const fields = FIELDS.flatMap((field) => ["-e", field]);
    const format = ["-T", "fields", "-E", "separator=|", "-E", "occurrence=f"];
    const { stdout } = await run("tshark", ["-n", "-r", file, ...OPTIONS, ...format, ...fields], {
      maxBuffer: 1 << 26,
    });
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const values = line.split("|");
        return Object.fromEntries(FIELDS.map((field, index) => [field, values[index] ?? ""])) as Row;
      });
  } finally {
    await rm(folder, { recursive: true });
  }
};

const status = (isOk: boolean | undefined): string => (isOk === undefined ? "" : isOk ? "1" : "0");
const text = (value: string | number | undefined): string => (value === undefined ? "" : String(value));
const flag = (value: boolean | undefined): string => (value === undefined ? "" : value ? "1" : "0");

/** What tshark should print for a frame that we describe so. */
const expected = (it: PacketDescription): Partial<Row> => ({
  "eth.src": it.ethSrc,
  "eth.dst": it.ethDst,
  "arp.opcode": text(it.arpOp),
  "arp.src.hw_mac": text(it.arpSha),
  "arp.src.proto_ipv4": text(it.arpSpa),
  "arp.dst.hw_mac": text(it.arpTha),
  "arp.dst.proto_ipv4": text(it.arpTpa),
  "ip.src": text(it.ipSrc),
  "ip.dst": text(it.ipDst),
  "ip.ttl": text(it.ipTtl),
  "ip.proto": text(it.ipProto),
  "ip.id": it.ipId === undefined ? "" : `0x${it.ipId.toString(16).padStart(4, "0")}`,
  "ip.flags.df": flag(it.ipDontFragment),
  "ip.flags.mf": flag(it.ipMoreFragments),
  // tshark 4.0 prints the field's own units of eight bytes.
  "ip.frag_offset": it.ipFragmentOffset === undefined ? "" : text(it.ipFragmentOffset / 8),
  "ip.checksum.status": status(it.ipChecksumOk),
  "tcp.srcport": text(it.tcpSrc),
  "tcp.dstport": text(it.tcpDst),
  "tcp.flags": it.tcpFlags === undefined ? "" : `0x${it.tcpFlags.toString(16).padStart(4, "0")}`,
  "tcp.seq_raw": text(it.tcpSeq),
  "tcp.ack_raw": text(it.tcpAck),
  "tcp.len": text(it.tcpPayloadLength),
  "udp.srcport": text(it.udpSrc),
  "udp.dstport": text(it.udpDst),
  "icmp.type": text(it.icmpType),
  "icmp.code": text(it.icmpCode),
});

const STATUS_OF_PROTOCOL: Readonly<Record<number, keyof Row>> = {
  1: "icmp.checksum.status",
  6: "tcp.checksum.status",
  17: "udp.checksum.status",
};

const isTransportField = (field: string): boolean => field.startsWith("tcp.") || field.startsWith("udp.");

const seed = 20_240_607;
const count = 400;

test.skipIf(!hasTshark)("tshark reads every generated frame as we do", async () => {
  const good = fc.sample(frame, { seed, numRuns: count });
  // The same frames with one byte changed behind the Ethernet header: many of their checksums are wrong now.
  const broken = good.map((bytes, index) => {
    const changed = Uint8Array.from(bytes);
    const { payload } = parseEthernet(changed)!;
    const at = changed.length - payload.length + 24 + (index % 4);
    if (at < changed.length) changed[at]! ^= 0x10;
    return changed;
  });
  const arps = fc
    .sample(fc.tuple(mac, u32, mac, u32), { seed, numRuns: 40 })
    .flatMap(([sha, spa, tha, tpa]) => [
      buildArpRequest({ sha, spa, tpa }),
      buildArpReply({ sha, spa, tha, tpa }),
      buildGratuitousArp({ sha, spa }),
    ]);
  const errors = good.flatMap((bytes) => {
    const result = icmpErrorFrame(bytes, { type: 3, code: 4, nextHopMtu: 1400 }, { ip: 0x0a000001, mac: 2 });
    return result.ok ? [result.bytes] : [];
  });
  const frames = [...good, ...broken, ...arps, ...errors];
  const rows = await tshark(frames);
  expect(rows.length).toBe(frames.length);
  const seen = new Map<string, number>();
  for (const [index, bytes] of frames.entries()) {
    const ours = describePacket(bytes)!;
    const row = rows[index]!;
    const fields = Object.entries(expected(ours));
    // For tshark the ports quoted by an ICMP error are ports of the frame.
    const compared = fields.filter(([field]) => ours.icmpType === undefined || !isTransportField(field));
    expect(row, `frame ${index}: ${Buffer.from(bytes).toString("hex")}`).toMatchObject(Object.fromEntries(compared));
    const checked = ours.l4ChecksumOk;
    if (checked !== undefined) expect(row[STATUS_OF_PROTOCOL[ours.ipProto!]!], `frame ${index}`).toBe(status(checked));
    const kind = `${ours.ipProto ?? `eth ${ours.ethType}`} ${status(checked)}`;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
  }
  // Both outcomes of every checksum must have been met, or the comparison says little.
  for (const kind of ["6 1", "6 0", "17 1", "17 0", "1 1", "1 0", "eth 2054 "]) {
    expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(10);
  }
  expect(errors.length).toBeGreaterThan(20);
});
