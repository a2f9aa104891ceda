import { describe, expect, test } from "vitest";
import { checkMessage } from "../../openflow/check-message.ts";
import { decode, encode, readHeader } from "../../openflow/codec.ts";
import { DecodeError, EncodeError } from "../../openflow/errors.ts";
import { type Message, messages } from "../../openflow/messages/all.ts";
import { NO_BUFFER } from "../../openflow/messages/flow.ts";
import { formatMessage } from "../../openflow/text/print.ts";
import { messagesOf } from "../support/messages.ts";
import { rng } from "../support/rng.ts";

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ""), "hex");

function value(b: Buffer): Message {
  const decoded = decode(b);
  if (!decoded.ok) throw decoded.error;
  return decoded.message;
}

function refusal(b: Buffer): string {
  const decoded = decode(b);
  return decoded.ok ? "accepted" : decoded.error.code;
}

/** A FLOW_MOD that drops everything at the default priority. */
const drop: Message = {
  type: "flow_mod",
  xid: 2,
  cookie: 0n,
  cookieMask: 0n,
  tableId: 0,
  command: 0,
  idleTimeout: 0,
  hardTimeout: 0,
  priority: 0x8000,
  bufferId: NO_BUFFER,
  outPort: 0xffff_ffff,
  outGroup: 0xffff_ffff,
  flags: 0,
  match: [],
  instructions: [],
};
const dropBytes = hex(`040e0038 00000002 0000000000000000 0000000000000000 00000000 00008000
  ffffffff ffffffff ffffffff 00000000 00010004 00000000`);

describe("every kind of message", () => {
  test("has a sample, so that the tests below leave none out", () => {
    const sampled = new Set<string>(messagesOf(rng(1)).map((m) => m.type));
    expect([...messages.byName.keys()].filter((name) => !sampled.has(name))).toEqual([]);
  });

  test("comes back from its bytes as it was, and the bytes from it", () => {
    for (let seed = 1; seed <= 150; seed++) {
      for (const m of messagesOf(rng(seed))) {
        const bytes = encode(m);
        const back = value(bytes);
        expect(back, m.type).toEqual(m);
        expect(encode(back).equals(bytes), m.type).toBe(true);
      }
    }
  });

  test("says its length, version and transaction in the header", () => {
    for (const m of messagesOf(rng(7))) {
      const bytes = encode(m);
      expect(readHeader(bytes)).toMatchObject({ version: 4, length: bytes.length, xid: m.xid });
    }
  });

  test("cut short at any byte is refused or means something else, never throws", () => {
    for (const m of messagesOf(rng(3))) {
      const bytes = encode(m);
      for (let n = 0; n < bytes.length; n++) {
        const cut = Buffer.from(bytes.subarray(0, n));
        expect(refusal(cut)).toBe("OFPBRC_BAD_LEN");
        if (n < 8) continue;
        cut.writeUInt16BE(n, 2);
        const decoded = decode(cut);
        if (decoded.ok) expect(decode(encode(decoded.message)).ok).toBe(true);
        else expect(decoded.error).toBeInstanceOf(DecodeError);
      }
    }
  });
});

describe("bytes written down by hand", () => {
  const cases: readonly (readonly [string, Buffer, Message])[] = [
    ["flow_mod", dropBytes, drop],
    [
      "hello",
      hex("04000010 00000001 00010008 00000010"),
      { type: "hello", xid: 1, version: 4, elements: [{ kind: "versionbitmap", bitmaps: [16] }] },
    ],
    ["set_config", hex("0409000c 00000005 0003 ffff"), { type: "set_config", xid: 5, flags: 3, missSendLen: 0xffff }],
    [
      "bundle_control",
      hex("04040018 00000009 4f4e4600 000008fc 00000007 0004 0003"),
      { type: "bundle_control", xid: 9, bundleId: 7, controlType: 4, flags: 3, properties: [] },
    ],
    [
      "bundle_add_message",
      Buffer.concat([hex("04040050 00000002 4f4e4600 000008fd 00000007 0000 0003"), dropBytes]),
      { type: "bundle_add_message", xid: 2, bundleId: 7, flags: 3, message: drop, properties: [] } as Message,
    ],
    [
      "port_stats_request",
      hex("04120018 00000002 0004 0000 00000000 ffffffff 00000000"),
      { type: "port_stats_request", xid: 2, flags: 0, portNo: 0xffff_ffff },
    ],
    [
      "nxt_set_packet_in_format",
      hex("04040014 00000002 00002320 00000010 00000002"),
      { type: "nxt_set_packet_in_format", xid: 2, format: 2 },
    ],
    [
      "packet_out",
      hex("040d002a 00000003 ffffffff fffffffd 0010 000000000000 0000 0010 00000001 0000 000000000000 abcd"),
      {
        type: "packet_out",
        xid: 3,
        bufferId: NO_BUFFER,
        inPort: 0xffff_fffd,
        actions: [{ kind: "output", port: 1, maxLen: 0 }],
        data: hex("abcd"),
      },
    ],
    [
      "nxt_ct_flush_zone",
      hex("04040018 00000003 00002320 0000001d 000000000000 0007"),
      { type: "nxt_ct_flush_zone", xid: 3, zoneId: 7 },
    ],
  ];
  test.each(cases)("%s", (_name, bytes, message) => {
    expect(encode(message).toString("hex")).toBe(bytes.toString("hex"));
    expect(value(bytes)).toEqual(message);
  });
});

describe("what cannot be written", () => {
  test("a number that does not fit its field", () => {
    expect(() => encode({ ...drop, priority: 0x10000 } as Message)).toThrow(EncodeError);
    expect(() => encode({ ...drop, cookie: 1n << 64n } as Message)).toThrow(EncodeError);
    expect(() => encode({ ...drop, tableId: -1 } as Message)).toThrow(EncodeError);
  });

  test("more than 65,535 bytes", () => {
    const echo = (n: number): Message => ({ type: "echo_request", xid: 1, data: Buffer.alloc(n) });
    expect(encode(echo(65_527)).length).toBe(65_535);
    expect(() => encode(echo(65_528))).toThrow(EncodeError);
    expect(() => encode({ type: "unknown", xid: 1, ofType: 99, body: Buffer.alloc(65_528) })).toThrow(EncodeError);
    const flow = { kind: "apply_actions", actions: Array(5000).fill({ kind: "output", port: 1, maxLen: 0 }) } as const;
    expect(() => encode({ ...drop, instructions: [flow] } as Message)).toThrow(EncodeError);
  });

  test("an unknown type, or one that cannot stand in a bundle", () => {
    expect(() => encode({ type: "nonsense", xid: 1 } as unknown as Message)).toThrow(EncodeError);
    const inner = { type: "barrier_request", xid: 1 };
    const add = { type: "bundle_add_message", xid: 1, bundleId: 1, flags: 0, message: inner, properties: [] };
    expect(() => encode(add as unknown as Message)).toThrow(EncodeError);
  });
});

test("a message in a bundle gets the transaction id of the one around it", () => {
  const add = { type: "bundle_add_message", xid: 77, bundleId: 1, flags: 0, message: drop, properties: [] } as Message;
  expect(value(encode(add))).toEqual({ ...add, message: { ...drop, xid: 77 } });
});

describe("refused before anything is looked at", () => {
  test.each([
    ["no header", "0400000800", "OFPBRC_BAD_LEN"],
    ["another version", "0105000800000001", "OFPBRC_BAD_VERSION"],
    ["a body where none may be, the length being right", "040500090000000100", "OFPBRC_BAD_LEN"],
    ["a longer length than there are bytes", "0405000a00000001", "OFPBRC_BAD_LEN"],
    ["a body where none may be", "04050010000000010000000000000000", "OFPBRC_BAD_LEN"],
    [
      "another transaction in a bundle",
      `0404005000000009${"4f4e4600000008fd0000000700000003"}${dropBytes.toString("hex")}`,
      "OFPBFC_MSG_BAD_XID",
    ],
    [
      "another version in a bundle",
      `0404002000000002${"4f4e4600000008fd0000000700000003"}0505000800000002`,
      "OFPBFC_BAD_VERSION",
    ],
    [
      "a cut message in a bundle",
      `0404002000000002${"4f4e4600000008fd0000000700000003"}0405001800000002`,
      "OFPBFC_MSG_BAD_LEN",
    ],
  ])("%s", (_what, bytes, code) => {
    expect(refusal(hex(bytes))).toBe(code);
  });

  test("a refusal carries the header when there is one", () => {
    const decoded = decode(hex("0105000800000009"));
    expect(decoded).toMatchObject({ ok: false, header: { version: 1, type: 5, length: 8, xid: 9 } });
    expect(decode(hex("0105"))).not.toHaveProperty("header");
  });

  test("a HELLO of any version is none of these", () => {
    expect(value(hex("0100000800000001"))).toEqual({ type: "hello", xid: 1, version: 1, elements: [] });
    const odd = value(hex("06000013 00000001 0001 0008 00000010 616263"));
    expect(odd).toMatchObject({
      version: 6,
      elements: [{ kind: "versionbitmap" }, { kind: "trailing", body: Buffer.from("abc") }],
    });
    expect(encode(odd).toString("hex")).toBe("06000013000000010001000800000010616263");
  });
});

describe("checkMessage", () => {
  const group = (groupType: number, weight: number, watchPort = 0xffff_ffff, n = 1): Message => ({
    type: "group_mod",
    xid: 1,
    command: 0,
    groupType,
    groupId: 1,
    buckets: Array(n).fill({ weight, watchPort, watchGroup: 0xffff_ffff, actions: [] }),
  });
  const band = { kind: "drop", rate: 1, burstSize: 0 } as const;
  const cases: readonly (readonly [string, Message, string | undefined])[] = [
    ["a plain flow", drop, undefined],
    ["an unknown command", { ...drop, command: 5 } as Message, "OFPFMFC_BAD_COMMAND"],
    ["unknown flags", { ...drop, flags: 32 } as Message, "OFPFMFC_BAD_FLAGS"],
    ["every table for a new flow", { ...drop, tableId: 255 } as Message, "OFPFMFC_BAD_TABLE_ID"],
    ["a port that no version has", { ...drop, outPort: 0xff00 } as Message, "OFPBAC_BAD_OUT_PORT"],
    [
      "a jump backwards",
      { ...drop, tableId: 3, instructions: [{ kind: "goto_table", tableId: 3 }] } as Message,
      "OFPBIC_BAD_TABLE_ID",
    ],
    [
      "a match without its prerequisite",
      { ...drop, match: [{ field: "tcp_dst", value: 1 }] } as Message,
      "OFPBMC_BAD_PREREQ",
    ],
    ["a select group", group(1, 5), undefined],
    ["weights elsewhere", group(0, 5), "OFPGMFC_INVALID_GROUP"],
    ["an indirect group of two", group(2, 0, 0xffff_ffff, 2), "OFPGMFC_INVALID_GROUP"],
    ["a group type of its own", group(9, 0), "OFPGMFC_BAD_TYPE"],
    ["failover that watches nothing", group(3, 0), "OFPGMFC_INVALID_GROUP"],
    ["a watching bucket elsewhere", group(0, 0, 2), "OFPGMFC_WATCH_UNSUPPORTED"],
    [
      "two units in a meter",
      { type: "meter_mod", xid: 1, command: 0, flags: 3, meterId: 1, bands: [band] },
      "OFPMMFC_BAD_FLAGS",
    ],
    [
      "a meter command of its own",
      { type: "meter_mod", xid: 1, command: 8, flags: 1, meterId: 1, bands: [] },
      "OFPMMFC_BAD_COMMAND",
    ],
    ["a reserved configuration flag", { type: "set_config", xid: 1, flags: 4, missSendLen: 0 }, "OFPSCFC_BAD_FLAGS"],
    ["a role of its own", { type: "role_request", xid: 1, role: 4, generationId: 0n }, "OFPRRFC_BAD_ROLE"],
    [
      "a message of an unknown experimenter",
      { type: "experimenter", xid: 1, experimenter: 5, experimenterType: 1, data: Buffer.alloc(0) },
      "OFPBRC_BAD_VENDOR",
    ],
    [
      "an unknown message of Nicira's",
      { type: "experimenter", xid: 1, experimenter: 0x2320, experimenterType: 999, data: Buffer.alloc(0) },
      "OFPBRC_BAD_SUBTYPE",
    ],
    ["an unknown type", { type: "unknown", xid: 1, ofType: 77, body: Buffer.alloc(0) }, "OFPBRC_BAD_TYPE"],
  ];
  test.each(cases)("%s", (_what, message, code) => {
    expect(checkMessage(message)?.code).toBe(code);
  });
});

test("200,000 damaged messages each give a value or a DecodeError, and text", () => {
  const r = rng(20);
  const samples = [1, 2, 3, 4].flatMap((seed) => messagesOf(rng(seed)).map((m) => encode(m)));
  let accepted = 0;
  for (let i = 0; i < 200_000; i++) {
    let b = Buffer.from(r.pick(samples));
    for (let n = 1 + r.below(4); n > 0; n--) {
      const at = 1 + r.below(b.length - 1);
      if (r.below(4) === 0 && at + 1 < b.length) b.writeUInt16BE(r.pick([0, 1, 4, 8, 0x7fff, 0xffff]), at);
      else b[at] = r.u8();
    }
    if (r.below(4) === 0) b = b.subarray(0, 8 + r.below(b.length - 7));
    b.writeUInt16BE(b.length, 2);
    const decoded = decode(b);
    if (!decoded.ok) expect(decoded.error).toBeInstanceOf(DecodeError);
    else {
      accepted++;
      const code = checkMessage(decoded.message)?.code ?? "";
      if (!/^(|OFP\w+|NX\w+)$/.test(code)) expect.fail(`${code} is no error's name`);
      // What was read can be written. Old forms become new ones, once.
      if (i % 8 === 0) {
        const written = encode(decoded.message);
        expect(encode(value(written)).equals(written)).toBe(true);
      }
    }
    if (i % 16 === 0) expect(formatMessage(b)).not.toBe("");
  }
  expect(accepted).toBeGreaterThan(20_000);
});
