import { describe, expect, test } from "vitest";
import { codePointByText, fieldByName, fieldByNumber, fields } from "../../openflow/fields.ts";
import { MEETS } from "../support/matches.ts";
import { hasOfctl, ofctl, parseOxmAnswers } from "../support/ofctl.ts";

describe("the table of fields", () => {
  test("no name, alias, code point or its text occurs twice", () => {
    const names = fields.flatMap((f) => [f.name, ...f.aliases]);
    expect(new Set(names).size).toBe(names.length);
    const texts = fields.flatMap((f) => f.headers.map((h) => h.text));
    expect(new Set(texts).size).toBe(texts.length);
    const points = fields.flatMap((f) => f.headers.map((h) => `${h.oxmClass}:${h.number}:${h.experimenter}`));
    expect(new Set(points).size).toBe(points.length);
  });

  test("every field is found by name, alias, number and text", () => {
    for (const f of fields) {
      for (const name of [f.name, ...f.aliases]) expect(fieldByName(name)).toBe(f);
      for (const h of f.headers) {
        expect(fieldByNumber(h.oxmClass, h.number, h.experimenter)).toBe(f);
        expect(codePointByText(h.text)).toEqual({ field: f, header: h });
      }
    }
  });

  test("values are numbers up to 48 bits and bigints beyond", () => {
    for (const f of fields) {
      expect(typeof f.full).toBe(f.bytes * 8 > 48 ? "bigint" : "number");
      expect(BigInt(f.full)).toBe((1n << BigInt(8 * f.bytes)) - 1n);
      expect(f.bits).toBeLessThanOrEqual(8 * f.bytes);
    }
  });

  test("header words say class, number, mask and length", () => {
    const word = (name: string) => fieldByName(name)?.oxm;
    expect(word("eth_src")).toMatchObject({ text: "OXM_OF_ETH_SRC", exact: 0x80000806, masked: 0x8000090c });
    expect(word("reg1")).toMatchObject({ text: "NXM_NX_REG1", exact: 0x00010204, masked: 0x00010308 });
    // The experimenter id counts, once.
    expect(word("tcp_flags")).toMatchObject({ exact: 0xffff5406, masked: 0xffff5508, experimenter: 0x4f4e4600 });
  });

  test("Nicira's code point comes first in subfields, OpenFlow 1.3's in matches", () => {
    expect(fieldByName("nw_dst")?.nxm.text).toBe("NXM_OF_IP_DST");
    expect(fieldByName("nw_dst")?.oxm.text).toBe("OXM_OF_IPV4_DST");
    expect(fieldByName("tcp_flags")?.oxm.text).toBe("ONFOXM_ET_TCP_FLAGS");
    expect(fieldByName("packet_type")?.oxm.text).toBe("OXM_OF_PACKET_TYPE");
  });

  test.skipIf(!hasOfctl)("ovs-ofctl knows every code point under its text, with its width", () => {
    const points = fields.flatMap((f) => f.headers.map((h) => ({ f, h })));
    const texts = points.map(({ f, h }) => {
      const value = f.name === "nsh_mdtype" ? 1 : 0;
      const one = `${h.text}(${value.toString(16).padStart(2 * (f.variable ? 1 : f.bytes), "0")})`;
      const before = MEETS[f.prerequisite][0];
      return before === "" ? one : `${before}, ${one}`;
    });
    const answers = parseOxmAnswers(texts);
    expect(answers).toHaveLength(points.length);
    answers.forEach((a, i) => {
      // Naming a field that its own prerequisite names already is a duplicate, which also proves that it is known.
      if (a.text !== "OFPBMC_DUP_FIELD") expect(a.text, texts[i]).not.toMatch(/^OFPBMC/);
    });
  });

  test.skipIf(!hasOfctl)("ovs-ofctl prints the same name for a field's subfields", () => {
    const free = fields.filter((f) => f.prerequisite === "none");
    const flows = free.map((f) => `actions=push:${f.name}[0]`).join("\n");
    const printed = ofctl(["-O", "OpenFlow13", "parse-flows", "-"], `${flows}\n`)
      .split("\n")
      .flatMap((line) => /push:(\w+)\[/.exec(line)?.[1] ?? []);
    expect(printed).toEqual(free.map((f) => f.nxm.text));
  });
});
