import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { encode } from "../../openflow/codec.ts";
import { formatMessage } from "../../openflow/text/print.ts";
import { messagesOf } from "../support/messages.ts";
import { hasOfctl, ofctl } from "../support/ofctl.ts";
import { rng } from "../support/rng.ts";

const bytes = (hex: string): Buffer => Buffer.from(hex.replace(/\s/g, ""), "hex");

describe("texts written down by hand", () => {
  test.each([
    ["0402000800000001", "OFPT_ECHO_REQUEST (OF1.3) (xid=0x1): 0 bytes of payload"],
    [
      "0402000a00000001 6869",
      "OFPT_ECHO_REQUEST (OF1.3) (xid=0x1): 2 bytes of payload\n" +
        "00000000  68 69                                           |hi              |",
    ],
    ["04000010000000010001000800000012", "OFPT_HELLO (OF1.3) (xid=0x1):\n version bitmap: 0x01, 0x04"],
    ["0200000800000001", "OFPT_HELLO (OF1.1) (xid=0x1):\n version bitmap: 0x01, 0x02"],
    ["041200180000000200040000 00000000 ffffffff00000000", "OFPST_PORT request (OF1.3) (xid=0x2): port_no=ANY"],
    ["04130010 00000002 000d 0001 00000000", "OFPST_PORT_DESC reply (OF1.3) (xid=0x2): flags=[more]"],
    [
      "04040018 0000000a 4f4e4600 000008fc 00000001 0004 0003",
      "ONFT_BUNDLE_CONTROL (OF1.3) (xid=0xa):\n bundle_id=0x1 type=COMMIT_REQUEST flags=atomic ordered",
    ],
    ["0401000c 00000003 0000 0001", "OFPT_ERROR (OF1.3) (xid=0x3): OFPHFC_EPERM"],
    [
      "04010014 00000003 0001 0006 0405000800000009",
      "OFPT_ERROR (OF1.3) (xid=0x3): OFPBRC_BAD_LEN\nOFPT_FEATURES_REQUEST (OF1.3) (xid=0x9):",
    ],
    [
      "040e0040 00000002 0000000000000007 0000000000000000 03000000 003c0064 ffffffff ffffffff ffffffff 00010000" +
        "00010004 00000000 0001000804000000",
      "OFPT_FLOW_MOD (OF1.3) (xid=0x2): ADD table:3 priority=100 cookie:0x7 hard:60 send_flow_rem actions=goto_table:4",
    ],
  ])("%s", (hex, text) => {
    expect(formatMessage(bytes(hex))).toBe(text);
  });
});

describe("refusals", () => {
  const dump = (line: string): string => `00000000  ${line}`;
  test.each([
    ["", "OpenFlow message is empty"],
    [
      "0402",
      `OpenFlow packet too short (only 2 bytes):\n${dump("04 02                                           |..              |")}`,
    ],
    [
      "0402000a00000001",
      `OFPT_ECHO_REQUEST (OF1.3) (xid=0x1):\n(***truncated to 8 bytes from 10***)\n${dump("04 02 00 0a 00 00 00 01-                        |........        |")}`,
    ],
    [
      "0402000800000001ff",
      `(***only uses 8 bytes out of 9***)\n${dump("04 02 00 08 00 00 00 01-ff                      |.........       |")}`,
    ],
    ["0405000a00000001ffff", "***decode error: OFPBRC_BAD_LEN***"],
    ["0463000800000001", "***decode error: OFPBRC_BAD_TYPE***"],
    ["04120010000000010063000000000000", "***decode error: OFPBRC_BAD_STAT***"],
    ["04040010000000010000abcd00000001", "***decode error: OFPBRC_BAD_VENDOR***"],
    ["0404001000000001000023200000ffff", "***decode error: OFPBRC_BAD_SUBTYPE***"],
    ["0409000c0000000100080000", "OFPT_SET_CONFIG (OF1.3) (xid=0x1): ***decode error: OFPSCFC_BAD_FLAGS***"],
    ["010e000800000001", "***decode error: OFPBRC_BAD_VERSION***"],
    ["0705000800000001", "***decode error: OFPBRC_BAD_TYPE***"],
  ])("%s", (hex, start) => {
    const text = formatMessage(bytes(hex));
    expect(text.startsWith(start)).toBe(true);
    if (text.includes("decode error")) expect(text).toContain("\n00000000  ");
  });

  test("of a list print what came before the bad record", () => {
    const good = encode({
      ...messagesOf(rng(1)).find((m) => m.type === "meter_config_reply"),
      flags: 0,
      meters: [
        { meterFlags: 1, meterId: 1, bands: [{ kind: "drop", rate: 5, burstSize: 0 }] },
        { meterFlags: 1, meterId: 2, bands: [{ kind: "unknown", type: 9, body: Buffer.alloc(12) }] },
      ],
    } as never);
    expect(formatMessage(good)).toContain(
      "\nmeter=1 kbps bands=\ntype=drop rate=5\n***decode error: OFPMMFC_BAD_BAND***\n",
    );
    expect(formatMessage(good)).not.toContain("meter=2");
  });
});

/** What ovs-ofctl prints for each message; barriers between them tell where one ends. */
function ofpParse(list: readonly Buffer[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "print-"));
  try {
    const file = join(folder, "messages");
    const marks = list.map((_, i) => encode({ type: "barrier_reply", xid: 0xd000_0000 + i }));
    writeFileSync(file, Buffer.concat(list.flatMap((b, i) => [b, marks[i] as Buffer])));
    const parts = ofctl(["ofp-parse", file], "").split(/OFPT_BARRIER_REPLY \(OF1\.3\) \(xid=0xd000[0-9a-f]{4}\):\n/);
    return parts.slice(0, list.length).map((p) => p.trimEnd());
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.runIf(hasOfctl)("as ovs-ofctl prints", () => {
  test("every kind of message", () => {
    const list = Array.from({ length: 40 }, (_, i) => messagesOf(rng(1000 + i)))
      .flat()
      .map((m) => encode(m));
    const printed = ofpParse(list);
    list.forEach((b, i) => {
      expect(formatMessage(b), b.toString("hex")).toBe(printed[i]);
    });
  });

  test("messages of every kind with one byte changed, but for one in a hundred", () => {
    const r = rng(99);
    const list = Array.from({ length: 15 }, (_, i) => messagesOf(rng(500 + i)))
      .flat()
      .map((m) => {
        const b = encode(m);
        if (b.length > 8) b[8 + r.below(b.length - 8)] = r.u8();
        return b;
      });
    const printed = ofpParse(list);
    const different = list.filter((b, i) => formatMessage(b) !== printed[i]);
    expect(list.length).toBeGreaterThan(1000);
    expect(different.length / list.length).toBeLessThan(0.01);
  });
});
