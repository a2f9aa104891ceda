import fc from "fast-check";
import { SmartBuffer } from "smart-buffer";
import { describe, expect, it } from "vitest";
import { apply, gotoTable, meter, output, setField, write, writeMetadata } from "../../openflow/build.ts";
import { checkInstructions } from "../../openflow/check.ts";
import { DecodeError } from "../../openflow/errors.ts";
import { type Instruction, instructions } from "../../openflow/instructions.ts";
import type { Match } from "../../openflow/match.ts";
import { formatInstructions } from "../../openflow/text/actions.ts";
import { actionList, instructionList } from "../support/arbitraries.ts";
import { hasOfctl } from "../support/ofctl.ts";
import { listAnswers } from "../support/ofctl-flows.ts";

const encode = (list: readonly Instruction[]): Buffer => {
  const w = SmartBuffer.fromSize(256);
  instructions.write(w, list);
  return Buffer.from(w.toBuffer());
};

/** What becomes of bytes in a flow of table 0 that matches everything. */
function outcome(b: Buffer, match: Match = [], tableId = 0): string {
  try {
    const list = instructions.decode(b);
    return checkInstructions(list, { match, tableId })?.code ?? formatInstructions(list);
  } catch (e) {
    if (e instanceof DecodeError) return e.code;
    throw e;
  }
}
const ofHex = (hex: string, match?: Match, tableId?: number): string =>
  outcome(Buffer.from(hex, "hex"), match, tableId);

const ipv4: Match = [{ field: "eth_type", value: 0x0800 }];
const tcp: Match = [...ipv4, { field: "nw_proto", value: 6 }];

describe("instructions", () => {
  it("give back what they were given", () => {
    fc.assert(
      fc.property(instructionList, (list) => {
        expect(instructions.decode(encode(list))).toEqual(list);
      }),
    );
  });

  it("have the bytes of OpenFlow 1.3.5", () => {
    const list = [meter(3), apply(output(1)), write(setField("eth_dst", 1)), writeMetadata(5n, 0xffn), gotoTable(9)];
    expect(encode(list).toString("hex")).toBe(
      "0006000800000003" +
        "000400180000000000000010000000010000000000000000" +
        "000300180000000000190010800006060000000000010000" +
        "0002001800000000000000000000000500000000000000ff" +
        "0001000809000000",
    );
  });

  it("print in the order in which they run", () => {
    expect(formatInstructions([gotoTable(9), write(output(2)), apply(output(1)), meter(3)])).toBe(
      "meter:3,output:1,write_actions(output:2),goto_table:9",
    );
    expect(formatInstructions([apply()])).toBe("drop");
  });

  it.each([
    ["two of a kind", "00040008000000000004000800000000", "OFPBIC_DUP_INST"],
    ["an unknown one", "0000000801000000", "OFPBIC_UNKNOWN_INST"],
    ["an experimenter's", "ffff000801000000", "OFPBIC_BAD_EXPERIMENTER"],
    ["a wrong length", "0002001000000000fedcba9876543210", "OFPBIC_BAD_LEN"],
    ["what an action set cannot hold", "0003001800000000ffff0010000023200011000000000000", "OFPBAC_BAD_TYPE"],
    ["a meter that cannot be", "0006000800000000", "OFPMMFC_INVALID_METER"],
    ["headers before actions", "00040010000000000000001000000000000b000800000000", "OFPBIC_UNKNOWN_INST"],
    [
      "a third tag",
      "00040020000000000011000881000000001100088100000000110008810000000004000800000000".slice(0, 64),
      "OFPBAC_BAD_TAG",
    ],
  ])("are refused for %s", (_what, hex, code) => {
    expect(ofHex(hex)).toBe(code);
  });

  it("go to later tables only", () => {
    expect(ofHex("0001000805000000", [], 4)).toBe("goto_table:5");
    expect(ofHex("0001000805000000", [], 5)).toBe("OFPBIC_BAD_TABLE_ID");
  });

  it.each([
    ["dec_ttl", "00040010000000000018000800000000", ipv4],
    ["set_field of ip_src", "000400180000000000190010800016040102030400000000", ipv4],
    ["ct", "0004002000000000ffff00180000232000230001000000000000ff0000000000", ipv4],
    ["set_field of tcp_dst", "00040018000000000019001080001c020050000000000000", tcp],
    ["mod_tp_dst", "0004001000000000000a000800500000", tcp],
    ["fin_timeout", "0004001800000000ffff0010000023200013000500000000", tcp],
  ])("need a match for %s", (_what, hex, match) => {
    expect(ofHex(hex)).toBe("OFPBAC_MATCH_INCONSISTENT");
    expect(ofHex(hex, match)).not.toMatch(/^OFP/);
  });

  it("let an action give what the next one needs", () => {
    const pushed = "0004002000000000" + "0011000881000000" + "0019001080000c021005000000000000";
    expect(ofHex(pushed)).toBe("push_vlan:0x8100,set_field:4101->vlan_vid");
    expect(ofHex(`0004001800000000${"0019001080000c021005000000000000"}`)).toBe("OFPBAC_MATCH_INCONSISTENT");
  });
});

describe.skipIf(!hasOfctl)("instructions against ovs-ofctl", () => {
  const compare = (lists: readonly (readonly Instruction[])[]): void => {
    const bytes = lists.map(encode).filter((b) => b.length > 0);
    const answers = listAnswers(
      "instructions",
      bytes.map((b) => b.toString("hex")),
    );
    expect(bytes.map((b) => outcome(b))).toEqual(answers.map((a) => (a.ok ? a.text : a.code)));
  };

  it("prints what it prints", () => {
    compare(fc.sample(instructionList, { seed: 5, numRuns: 500 }));
  });

  it("judges actions by an empty match as it does", () => {
    compare(fc.sample(actionList, { seed: 6, numRuns: 500 }).map((actions) => [{ kind: "apply_actions", actions }]));
    compare(fc.sample(actionList, { seed: 7, numRuns: 500 }).map((actions) => [{ kind: "write_actions", actions }]));
  });
});
