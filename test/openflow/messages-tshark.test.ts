import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encode } from "../../openflow/codec.ts";
import type { Message } from "../../openflow/messages/all.ts";
import { writePcap } from "../../openflow/packet/pcap.ts";
import { messagesOf } from "../support/messages.ts";
import { rng } from "../support/rng.ts";

const hasTshark = spawnSync("tshark", ["--version"]).status === 0;
const PORT = 6653;

/** A TCP segment with one message, as a switch's connection would carry it. */
function segment(payload: Buffer, seq: number): Buffer {
  const b = Buffer.alloc(54);
  b.writeUInt16BE(0x0800, 12);
  b[14] = 0x45;
  b.writeUInt16BE(40 + payload.length, 16);
  b[22] = 64;
  b[23] = 6;
  b.writeUInt32BE(0x0a000001, 26);
  b.writeUInt32BE(0x0a000002, 30);
  b.writeUInt16BE(40_000, 34);
  b.writeUInt16BE(PORT, 36);
  b.writeUInt32BE(seq, 38);
  b[46] = 0x50;
  b[47] = 0x18;
  b.writeUInt16BE(0xffff, 48);
  return Buffer.concat([b, payload]);
}

interface Dissected {
  readonly type: string;
  readonly xid: string;
  readonly severities: string;
  readonly notes: string;
}

function tshark(messages: readonly Buffer[]): Dissected[] {
  const folder = mkdtempSync(join(tmpdir(), "openflow-"));
  try {
    const file = join(folder, "messages.pcap");
    let seq = 1;
    const packets = messages.map((m, i) => {
      const bytes = segment(m, seq);
      seq += m.length;
      return { tsMicros: i, bytes };
    });
    writeFileSync(file, writePcap(packets));
    const fields = ["openflow_v4.type", "openflow_v4.xid", "_ws.expert.severity", "_ws.expert.message"];
    const args = ["-n", "-r", file, "-d", `tcp.port==${PORT},openflow`, "-T", "fields", "-E", "separator=|"];
    const run = spawnSync("tshark", [...args, ...fields.flatMap((f) => ["-e", f])], { maxBuffer: 1 << 28 });
    return run.stdout
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => {
        const [type = "", xid = "", severities = "", notes = ""] = line.split("|");
        return { type, xid, severities, notes };
      });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Wireshark's severity of what it calls an error. */
const ERROR = 8_388_608;

/** What this codec has no name for has no form that a dissector could check either. */
const raw = (m: Message): boolean => m.type === "unknown" || m.type.startsWith("experimenter");

/** Wireshark says so of every experimenter's multipart reply, Open vSwitch's own included: it reads past the body. */
const BEYOND = /^Experimenter multipart reply body\.,Malformed Packet/;

test.runIf(hasTshark)("Wireshark dissects every kind of message without an error", () => {
  const list = [1, 2, 3, 4, 5].flatMap((seed) => messagesOf(rng(seed))).filter((m) => !raw(m));
  const bytes = list.map((m) => encode(m));
  const seen = tshark(bytes);
  expect(seen.length).toBe(list.length);
  list.forEach((m, i) => {
    const d = seen[i] as Dissected;
    const failed = d.severities.split(",").some((s) => Number(s) >= ERROR) && !BEYOND.test(d.notes);
    expect({ type: m.type, failed, notes: d.notes }).toMatchObject({ type: m.type, failed: false });
    // Only the outermost header counts: errors, bundles and forwarded requests hold messages too.
    expect(d.xid.split(",")[0], m.type).toBe(String(m.xid));
    expect(d.type.split(",")[0], m.type).toBe(String(bytes[i]?.[1]));
  });
});
