import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decode, encode } from "../../openflow/codec.ts";
import { DecodeError } from "../../openflow/errors.ts";
import { errorCodeOf, errorNameOf, errorNames, errorReply } from "../../openflow/errors-of.ts";
import type { Message } from "../../openflow/messages/all.ts";
import { formatMessage } from "../../openflow/text/print.ts";
import { hasOfctl, ofctl } from "../support/ofctl.ts";

const codeOf = (name: string) => {
  const code = errorCodeOf(name);
  if (!code) throw new Error(name);
  return code;
};

describe("error names", () => {
  test.each([
    ["OFPHFC_INCOMPATIBLE", { errorType: 0, code: 0 }],
    ["OFPBRC_BAD_LEN", { errorType: 1, code: 6 }],
    ["OFPBAC_MATCH_INCONSISTENT", { errorType: 2, code: 10 }],
    ["OFPFMFC_OVERLAP", { errorType: 5, code: 3 }],
    ["OFPTFFC_EPERM", { errorType: 13, code: 5 }],
    ["OFPBPC_BAD_VALUE", { errorType: 13, code: 4 }],
    ["OFPBIC_DUP_INST", { errorType: 0xffff, code: 2600, experimenter: 0x4f4e4600 }],
    ["OFPBFC_MSG_FAILED", { errorType: 0xffff, code: 2313, experimenter: 0x4f4e4600 }],
    ["NXBRC_MUST_BE_ZERO", { errorType: 0xffff, code: 4, experimenter: 0x2320 }],
    ["OFPMOFC_BAD_FLAGS", { errorType: 0xffff, code: 7, experimenter: 0x2320 }],
  ])("%s", (name, code) => {
    expect(errorCodeOf(name)).toEqual(code);
    expect(errorNameOf(code)).toBe(name);
  });

  test("are one to one", () => {
    expect(new Set(errorNames).size).toBe(errorNames.length);
    for (const name of errorNames) expect(errorNameOf(codeOf(name))).toBe(name);
  });

  test("do not exist for numbers and names nobody gave", () => {
    expect(errorNameOf({ errorType: 99, code: 0 })).toBeUndefined();
    expect(errorNameOf({ errorType: 1, code: 99 })).toBeUndefined();
    expect(errorNameOf({ errorType: 0xffff, code: 4, experimenter: 0xabc })).toBeUndefined();
    expect(errorCodeOf("OFPXXX")).toBeUndefined();
  });

  test.runIf(hasOfctl)("are those ovs-ofctl prints", () => {
    const folder = mkdtempSync(join(tmpdir(), "errors-"));
    try {
      const file = join(folder, "errors");
      const messages = errorNames.map((name, i) =>
        encode({ type: "error", xid: i, error: { ...codeOf(name), data: encode({ type: "barrier_reply", xid: i }) } }),
      );
      writeFileSync(file, Buffer.concat(messages));
      const printed = ofctl(["ofp-parse", file], "");
      expect([...printed.matchAll(/^OFPT_ERROR .*: (\w+)$/gm)].map((m) => m[1])).toEqual(errorNames);
      expect(messages.map((m) => formatMessage(m)).join("\n")).toBe(printed.trimEnd().replaceAll(/\n\n/g, "\n"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("errorReply", () => {
  const request = Buffer.concat([Buffer.from("040500f000000007", "hex"), Buffer.alloc(232, 1)]);

  test("quotes the first 64 bytes of the request", () => {
    const reply = errorReply(new DecodeError("OFPBRC_BAD_LEN", 2, "too long"), request, 7);
    expect(reply).toEqual({ type: "error", xid: 7, error: { errorType: 1, code: 6, data: request.subarray(0, 64) } });
    expect(decode(encode(reply))).toEqual({ ok: true, message: reply satisfies Message });
  });

  test("quotes all of a short one", () => {
    const reply = errorReply({ code: "OFPBFC_BAD_ID" }, request.subarray(0, 8), 1);
    expect(reply.error).toEqual({ ...codeOf("OFPBFC_BAD_ID"), data: request.subarray(0, 8) });
  });

  test("says so when OpenFlow 1.3 has no number for the error", () => {
    expect(errorReply({ code: "OFPBFC_BAD_VERSION" }, request, 1).error).toMatchObject(
      codeOf("NXBRC_UNENCODABLE_ERROR"),
    );
  });
});
