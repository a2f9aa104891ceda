import { Parser } from "binary-parser";
import fc from "fast-check";
import { SmartBuffer } from "smart-buffer";
import { describe, expect, test } from "vitest";
import { canonicalMatch } from "../../openflow/canonical.ts";
import { checkMatch } from "../../openflow/check-match.ts";
import { DecodeError, EncodeError } from "../../openflow/errors.ts";
import type { FieldName } from "../../openflow/fields.ts";
import { type Match, match, matchFields } from "../../openflow/match.ts";
import { checkNxm, writeNxm } from "../../openflow/nxm.ts";
import { formatOxms, parseOxms } from "../../openflow/text/oxm.ts";
import { anyField, oxmTexts } from "../support/matches.ts";
import { hasOfctl, parseOxmAnswers } from "../support/ofctl.ts";

const parser = new Parser();
match.parser(parser, "m", { eof: true });

/** Written into memory full of 0xa5, so that a byte left out would show. */
function encode(m: Match, write = match.write): Buffer {
  const w = SmartBuffer.fromBuffer(Buffer.alloc(4096, 0xa5));
  w.writeOffset = 0;
  write(w, m);
  return Buffer.from(w.internalBuffer.subarray(0, w.writeOffset));
}

function decode(b: Buffer): Match {
  match.fence(b, 0, b.length);
  return match.lift?.((parser.parse(b) as { m: unknown }).m) as Match;
}

const bare = (text: string): Match => matchFields.lift?.(parseOxms(text)) as Match;
const tlvs = (m: Match): string => formatOxms(encode(m, matchFields.write));
const problem = (text: string): string | undefined => checkMatch(bare(text))?.code;

describe("a match on the wire", () => {
  test("fields of every width", () => {
    const m: Match = [
      { field: "in_port", value: 0xfffffffe },
      { field: "eth_src", value: 0x525400123456, mask: 0xffffff000000 },
      { field: "vlan_pcp", value: 7 },
      { field: "tun_id", value: 0xffffffffffffffffn },
      { field: "ipv6_dst", value: 0xfd00n << 112n, mask: 0xffffn << 112n },
      { field: "tcp_flags", value: 2, mask: 0x12 },
    ];
    expect(encode(m).toString("hex")).toBe(
      [
        "0001005d",
        "80000004fffffffe",
        "8000090c525400123456ffffff000000",
        "80000e0107",
        "80004c08ffffffffffffffff",
        "80003720fd000000000000000000000000000000ffff0000000000000000000000000000",
        "ffff55084f4e460000020012",
        "000000",
      ].join(""),
    );
    expect(decode(encode(m))).toEqual(m);
  });

  test("decode of encode is the same match", () => {
    fc.assert(
      fc.property(fc.array(anyField, { maxLength: 20 }), (m) => {
        expect(decode(encode(m))).toEqual(m);
      }),
    );
  });

  test("either port number comes out as the 32-bit one", () => {
    expect(bare("NXM_OF_IN_PORT(fffe)")).toEqual([{ field: "in_port", value: 0xfffffffe }]);
    expect(bare("NXM_OF_IN_PORT(0007)")).toEqual(bare("OXM_OF_IN_PORT(00000007)"));
  });

  test("unknown fields and odd lengths survive byte for byte", () => {
    const raws = fc
      .record({
        head: fc.constantFrom(0x0102, 0x8000, 0x8001, 0x0001, 0x7fff, 0xffff),
        which: fc.integer({ min: 0, max: 255 }),
        body: fc.uint8Array({ minLength: 4, maxLength: 40 }),
      })
      .map(({ head, which, body }) =>
        Buffer.concat([Buffer.from([head >> 8, head & 255, which, body.length]), Buffer.from(body)]),
      )
      .filter((b) => matchFields.lift?.(b)?.[0]?.field === "raw");
    fc.assert(
      fc.property(fc.array(raws, { maxLength: 5 }), (list) => {
        const b = Buffer.concat(list);
        expect(encode(matchFields.lift?.(b) as Match, matchFields.write)).toEqual(b);
      }),
    );
  });

  test("a tunnel option keeps a length that its value does not need", () => {
    const text = "NXM_NX_TUN_METADATA5(00000012), NXM_NX_TUN_METADATA6_W(0001/00ff)";
    expect(tlvs(bare(text))).toBe(text);
    expect(bare("NXM_NX_TUN_METADATA5(12)")).toEqual([{ field: "tun_metadata5", value: 0x12n }]);
  });

  test("any bytes are a match or a DecodeError, and nothing past the end is read", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc
        .record({ m: fc.array(anyField, { maxLength: 6 }), at: fc.nat(200), to: fc.integer({ min: 0, max: 255 }) })
        .map(({ m, at, to }) => {
          const b = encode(m);
          b[at % b.length] = to;
          return b;
        }),
    );
    fc.assert(
      fc.property(bytes, (raw) => {
        const b = Buffer.from(raw);
        try {
          const end = match.fence(b, 0, b.length);
          expect(end).toBeLessThanOrEqual(b.length);
          const m = decode(b.subarray(0, end));
          expect(decode(encode(m))).toEqual(m);
          checkMatch(m);
        } catch (e) {
          expect(e).toBeInstanceOf(DecodeError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("values that do not fit are refused when written", () => {
    for (const bad of [-1, 0x1_0000, 1.5, Number.NaN]) {
      expect(() => encode([{ field: "eth_type", value: bad }])).toThrow(EncodeError);
    }
    expect(() => encode([{ field: "tun_id", value: 1n << 64n }])).toThrow(EncodeError);
    expect(() => encode([{ field: "tun_metadata0", value: 1n << 992n }])).toThrow(EncodeError);
    expect(() => encode([{ field: "nothing" as FieldName, value: 1 }])).toThrow(EncodeError);
    const long = new Array(5000).fill({ field: "xxreg0", value: 0n });
    expect(() => encode(long)).toThrow(EncodeError);
  });

  test.each([
    ["0001", "OFPBRC_BAD_LEN"],
    ["0002000400000000", "OFPBMC_BAD_TYPE"],
    ["0000000400000000", "OFPBMC_BAD_LEN"],
    ["0001000300000000", "OFPBMC_BAD_LEN"],
    ["0001000c80000004", "OFPBMC_BAD_LEN"],
    ["0001000780000000", "OFPBMC_BAD_LEN"],
    ["00010008ffff0603", "OFPBMC_BAD_LEN"],
    ["0001000bffff0603000000", "OFPBMC_BAD_LEN"],
  ])("%s is refused with %s", (hex, code) => {
    const b = Buffer.from(hex, "hex");
    expect(() => match.fence(b, 0, b.length)).toThrow(expect.objectContaining({ code }));
  });
});

describe("a match of OpenFlow 1.1's fixed layout", () => {
  /** Everything wildcarded but what `fields` writes; `wildcards` has a 1 for each field that is not given. */
  function standard(wildcards: number, fields: (b: Buffer) => void): Buffer {
    const b = Buffer.alloc(88);
    b.writeUInt16BE(88, 2);
    b.writeUInt32BE(wildcards, 8);
    for (const at of [18, 30, 48, 56, 80]) b.fill(0xff, at, at + (at < 48 ? 6 : at < 80 ? 4 : 8));
    fields(b);
    return b;
  }

  test("is read as fields", () => {
    const b = standard(0x356, (x) => {
      x.writeUInt32BE(3, 4);
      x.writeUInt16BE(0x0800, 40);
      x[43] = 6;
      x.writeUInt32BE(0x0a000000, 52);
      x.writeUInt32BE(0x00ffffff, 56);
      x.writeUInt16BE(80, 62);
    });
    const m = decode(b);
    expect(m).toEqual([
      { field: "in_port", value: 3 },
      { field: "eth_type", value: 0x0800 },
      { field: "ip_dst", value: 0x0a000000, mask: 0xff000000 },
      { field: "nw_proto", value: 6 },
      { field: "tcp_dst", value: 80 },
    ]);
    expect(decode(encode(m))).toEqual(m);
  });

  test("with a port that no version has, or a VLAN beyond 4095, is refused", () => {
    const port = standard(0x3fe, (x) => x.writeUInt32BE(0xff00, 4));
    const vlan = standard(0x3fd, (x) => x.writeUInt16BE(0x1000, 36));
    for (const b of [port, vlan]) {
      expect(() => match.fence(b, 0, b.length)).toThrow(expect.objectContaining({ code: "OFPBMC_BAD_VALUE" }));
    }
  });
});

describe("the canonical match", () => {
  const canonical = (text: string): string => tlvs(canonicalMatch(bare(text)));

  test("is in Open vSwitch's order", () => {
    expect(
      canonical("NXM_NX_REG1(00000005), OXM_OF_ETH_TYPE(0800), OXM_OF_IP_PROTO(06), OXM_OF_IN_PORT(00000001)"),
    ).toBe("OXM_OF_IN_PORT(00000001), OXM_OF_ETH_TYPE(0800), OXM_OF_IP_PROTO(06), NXM_NX_REG1(00000005)");
  });

  test("has no mask of ones, no field under a mask of zeros, no value bits outside the mask", () => {
    expect(canonical("OXM_OF_METADATA_W(0000000000000001/ffffffffffffffff)")).toBe("OXM_OF_METADATA(0000000000000001)");
    expect(canonical("NXM_NX_REG0_W(00000000/00000000)")).toBe("<any>");
    expect(canonicalMatch([{ field: "reg3", value: 0xff, mask: 0x0f }])).toEqual([
      { field: "reg3", value: 0x0f, mask: 0x0f },
    ]);
  });

  test("has VLAN and DSCP in OpenFlow's fields, and wide registers in 32-bit ones", () => {
    expect(canonical("NXM_OF_VLAN_TCI(7005)")).toBe("OXM_OF_VLAN_VID(1005), OXM_OF_VLAN_PCP(03)");
    expect(canonical("OXM_OF_ETH_TYPE(0800), NXM_OF_IP_TOS(b8)")).toBe("OXM_OF_ETH_TYPE(0800), OXM_OF_IP_DSCP(2e)");
    expect(canonical("OXM_OF_PKT_REG1(0000000100000002)")).toBe("NXM_NX_REG2(00000001), NXM_NX_REG3(00000002)");
  });

  test("of a canonical match is itself, and means the same to the check", () => {
    fc.assert(
      fc.property(oxmTexts, (text) => {
        const m = bare(text);
        if (checkMatch(m)) return;
        const once = canonicalMatch(m);
        expect(canonicalMatch(once)).toEqual(once);
      }),
    );
  });

  test("keeps what it does not know, at the end", () => {
    const m = bare("01020204(11112222), OXM_OF_IN_PORT(00000001)");
    expect(canonicalMatch(m).map((f) => f.field)).toEqual(["in_port", "raw"]);
  });

  test("as NXM has 16-bit ports and the cookie last", () => {
    const m = bare("NXM_NX_COOKIE_W(0000000000000001/ffffffffffffffff), OXM_OF_IN_PORT(fffffffe)");
    expect(checkNxm(m)).toBeUndefined();
    expect(formatOxms(encode(m, writeNxm))).toBe("NXM_OF_IN_PORT(fffe), NXM_NX_COOKIE(0000000000000001)");
    expect(checkNxm([...m, ...m])?.code).toBe("OFPBMC_DUP_FIELD");
  });
});

describe("the check of a match", () => {
  test.each([
    ["01020204(11112222)", "OFPBMC_BAD_FIELD"],
    ["80000206(000102030405)", "OFPBMC_BAD_FIELD"],
    ["01020304(1111/3333)", "OFPBMC_BAD_FIELD"],
    ["01020304(4444/3333)", "OFPBMC_BAD_WILDCARDS"],
    ["OXM_OF_ETH_DST_W(ffffffffffff/010000000000)", "OFPBMC_BAD_WILDCARDS"],
    ["80000b04(0800/fff0)", "OFPBMC_BAD_MASK"],
    ["OXM_OF_IN_PORT(0000ff00)", "OFPBMC_BAD_VALUE"],
    ["OXM_OF_VLAN_VID(2005)", "OFPBMC_BAD_VALUE"],
    ["OXM_OF_TCP_DST(0050)", "OFPBMC_BAD_PREREQ"],
    ["OXM_OF_VLAN_PCP(03)", "OFPBMC_BAD_PREREQ"],
    ["NXM_NX_CT_STATE_W(00000020/00000020), NXM_NX_CT_NW_SRC(01020304)", "OFPBMC_BAD_PREREQ"],
    ["NXM_NX_CT_STATE_W(00000020/00000030), NXM_NX_CT_NW_SRC(01020304)", undefined],
    ["NXM_NX_REG0(00000001), OXM_OF_PKT_REG0(0000000000000005)", "OFPBMC_DUP_FIELD"],
    ["OXM_OF_ETH_TYPE(0800), OXM_OF_IP_DSCP(01), NXM_OF_IP_TOS(08)", "OFPBMC_DUP_FIELD"],
  ])("%s: %s", (text, code) => {
    expect(problem(text)).toBe(code);
  });

  test("loose passes over unknown fields and prerequisites", () => {
    const m = bare("01020204(11112222), OXM_OF_TCP_DST(0050)");
    expect(checkMatch(m)?.code).toBe("OFPBMC_BAD_FIELD");
    expect(checkMatch(m, { loose: true })).toBeUndefined();
  });

  test("says at which byte", () => {
    expect(checkMatch(bare("OXM_OF_IN_PORT(00000001), OXM_OF_TCP_DST(0050)"))?.offset).toBe(8);
  });
});

test.skipIf(!hasOfctl)("outcome, order and bytes are those of ovs-ofctl", () => {
  const texts = fc.sample(oxmTexts, 600);
  const answers = parseOxmAnswers(texts);
  expect(answers).toHaveLength(texts.length);
  const ours = texts.map((text) => {
    const m = bare(text);
    const error = checkMatch(m);
    return error ? { code: error.code, bytes: "" } : { code: "ok", bytes: encode(canonicalMatch(m)).toString("hex") };
  });
  texts.forEach((text, i) => {
    const theirs = answers[i] as { text: string; bytes: string };
    const code = theirs.text.startsWith("OFPBMC") ? theirs.text : "ok";
    expect(ours[i], text).toEqual({ code, bytes: code === "ok" ? theirs.bytes : "" });
  });
});
