import { describe, expect, test } from "vitest";
import { negotiate } from "../../controller/session/hello.ts";

/** HELLO of `version` with elements given as hex. */
function hello(version: number, elements = ""): Buffer {
  const body = Buffer.from(elements.replace(/\s/g, ""), "hex");
  const b = Buffer.alloc(8 + body.length);
  b[0] = version;
  b.writeUInt16BE(b.length, 2);
  body.copy(b, 8);
  return b;
}

describe("version negotiation", () => {
  test.each([
    ["header 4, no elements", hello(4)],
    ["header 6, no elements", hello(6)],
    ["header 6 and bitmap {1.0, 1.3, 1.5}", hello(6, "0001 0008 00000052")],
    ["header 1 but the bitmap has 1.3", hello(1, "0001 0008 00000012")],
    ["an unknown element of odd length with padding comes first", hello(4, "0099 0007 aabbcc 00 0001 0008 00000010")],
    ["bitmap of two words", hello(6, "0001 000c 00000010 00000000 00000000")],
    ["a cut-off element is as good as none", hello(5, "0001 0040 00000010")],
  ])("%s: 1.3 is agreed", (_name, bytes) => {
    expect(negotiate(bytes)).toEqual({ ok: true });
  });

  test.each([
    ["header 1", hello(1), "up to 1.0"],
    ["header 3", hello(3), "up to 1.2"],
    ["header 5 and a bitmap without 1.3", hello(5, "0001 0008 00000022"), "1.0, 1.4"],
    ["an empty bitmap", hello(6, "0001 0008 00000000"), "none"],
    ["version 0", hello(0), "0"],
  ])("%s: refused, and the offer is named", (_name, bytes, offer) => {
    const result = negotiate(bytes);
    expect(result.ok).toBe(false);
    expect(result.ok ? "" : result.reason).toContain(offer);
  });
});
