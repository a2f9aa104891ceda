import fc from "fast-check";
import { SmartBuffer } from "smart-buffer";
import { describe, expect, test } from "vitest";
import { canonicalMatch } from "../../openflow/canonical.ts";
import { checkMatch } from "../../openflow/check-match.ts";
import { fields } from "../../openflow/fields.ts";
import { type Match, match, matchFields } from "../../openflow/match.ts";
import { formatIpv6, formatMac, parseIpv4, parseIpv6, parseMac } from "../../openflow/text/address.ts";
import { formatMatch } from "../../openflow/text/match.ts";
import { formatOxms, parseOxms } from "../../openflow/text/oxm.ts";
import { ParseError } from "../../openflow/text/parse-error.ts";
import { isMatchWord, parseMatch } from "../../openflow/text/parse-match.ts";
import { formatPort, parsePort } from "../../openflow/text/ports.ts";
import { formatSubfield, parseSubfield } from "../../openflow/text/subfield.ts";
import { formatValue, parseValue } from "../../openflow/text/value.ts";
import { oxmTexts } from "../support/matches.ts";
import { hasOfctl, ofctl } from "../support/ofctl.ts";

const bare = (text: string): Match => matchFields.lift?.(parseOxms(text)) as Match;

function failure(run: () => unknown): ParseError {
  try {
    run();
  } catch (e) {
    if (e instanceof ParseError) return e;
    throw e;
  }
  throw new Error("did not fail");
}

/** A flow_mod that adds `m` at the default priority and drops. */
function flowMod(m: Match, xid: number): Buffer {
  const w = new SmartBuffer();
  match.write(w, m);
  const body = w.toBuffer();
  const head = Buffer.alloc(48);
  head.writeUInt16BE(0x040e, 0);
  head.writeUInt16BE(48 + body.length, 2);
  head.writeUInt32BE(xid, 4);
  head.writeUInt16BE(0x8000, 30);
  for (const any of [32, 36, 40]) head.writeUInt32BE(0xffffffff, any);
  return Buffer.concat([head, body]);
}

const accepted = oxmTexts.map(bare).filter((m) => checkMatch(m) === undefined);

describe("match text", () => {
  test.each([
    ["", ""],
    ["tcp,nw_dst=10.0.0.7/24,tp_dst=80", "tcp,nw_dst=10.0.0.0/24,tp_dst=80"],
    ["eth_type=0x800,ip_proto=17,udp_src=0x35/0xff", "udp,tp_src=0x35/0xff"],
    ["in_port=LOCAL,dl_src=1:2:3:4:5:6/ff:ff:ff:00:00:00", "in_port=LOCAL,dl_src=01:02:03:00:00:00/ff:ff:ff:00:00:00"],
    ["dl_vlan=7 dl_vlan_pcp=3", "dl_vlan=7,dl_vlan_pcp=3"],
    ["dl_vlan=0xffff", "vlan_tci=0x0000/0x1fff"],
    ["vlan_vid=0x1000/0x1000", "vlan_tci=0x1000/0x1000"],
    ["ct_state=-new+est+trk,ct_mark=0x10/0xf0,ct_zone=010", "ct_state=-new+est+trk,ct_zone=8,ct_mark=0x10/0xf0"],
    ["ct_state=trk|est", "ct_state=est|trk"],
    ["ct_label=0x1/0xff", "ct_label=0x1/0xff"],
    ["tcp6,tcp_flags=+syn-ack,ipv6_src=fd00::1/64", "tcp6,ipv6_src=fd00::/64,tcp_flags=+syn-ack"],
    ["arp,nw_src=10.0.0.1,arp_op=1", "arp,arp_spa=10.0.0.1,arp_op=1"],
    [
      "icmp6,icmp_type=135,icmp_code=0,nd_target=fe80::1,nd_sll=00:00:00:00:00:01",
      "icmp6,icmp_type=135,icmp_code=0,nd_target=fe80::1,nd_sll=00:00:00:00:00:01",
    ],
    ["ip,nw_frag=later,nw_tos=184,nw_ecn=1", "ip,nw_tos=184,nw_ecn=1,nw_frag=later"],
    ["xreg0=0x100000002", "reg0=0x1,reg1=0x2"],
    ["packet_type=(1,0x800),ip_src=1.2.3.4", "packet_type=(1,0x800),nw_src=1.2.3.4"],
    ["mpls,mpls_label=5,mpls_bos=1", "mpls,mpls_label=5,mpls_bos=1"],
    ["tun_metadata0=0x1234/0xffff,tun_metadata1", "tun_metadata0=0x1234,tun_metadata1"],
    ["metadata=*,reg1=*", ""],
    ["raw=0x0102020411112222", "raw=0x0102020411112222"],
  ])("%s reads and prints", (text, printed) => {
    expect(formatMatch(parseMatch(text))).toBe(printed);
  });

  test("every field is accepted under each of its names", () => {
    const one: Partial<Record<string, string>> = {
      mac: "00:00:00:00:00:01",
      ipv4: "0.0.0.1",
      ipv6: "::1",
      frag: "no",
      tun_flags: "+oam",
      packet_type: "(1,1)",
    };
    const needs: Record<string, string> = {
      vlan_vid: "dl_vlan=1,",
      mpls: "mpls,",
      ipv4: "ip,",
      ipv6: "ipv6,",
      ip: "ip,",
      arp: "arp,",
      nsh: "eth_type=0x894f,",
      ct: "ct_state=+trk+est,ct_nw_proto=1,",
      tcp: "tcp,",
      udp: "udp,",
      sctp: "sctp,",
      icmpv4: "icmp,",
      icmpv6: "icmp6,",
      nd: "icmp6,icmp_type=135,",
      nd_solicit: "icmp6,icmp_type=135,",
      nd_advert: "icmp6,icmp_type=136,",
    };
    // Already there through the others, or (a tag without its own bit) not a match that reads back.
    const already = ["vlan_tci", "eth_type", "nw_proto", "ct_state", "ct_nw_proto", "vlan_vid", "icmpv6_type"];
    for (const f of fields.filter((x) => !already.includes(x.name))) {
      for (const name of [f.name, ...f.aliases]) {
        const m = parseMatch(`${needs[f.prerequisite] ?? ""}${name}=${one[f.format] ?? "1"}`);
        expect(checkMatch(m), name).toBeUndefined();
        expect(m.length, name).toBeGreaterThan(0);
      }
    }
  });

  test("what is printed reads back as the same text", () => {
    fc.assert(
      fc.property(accepted, (m) => {
        const text = formatMatch(m);
        // ovs-ofctl's own words for combinations that no packet has, or that it prints with less than there is.
        if (/<error>|nw_frag|ct_nw_proto=0|tcp_flags=0\/0|vlan_tci|nsh_c\d/.test(text)) return;
        expect(formatMatch(parseMatch(text))).toBe(text);
      }),
    );
  });

  test.skipIf(!hasOfctl)("is what ovs-ofctl prints", () => {
    const matches = fc.sample(accepted, 500);
    const printed = ofctl(["-O", "OpenFlow13", "ofp-parse", "-"], Buffer.concat(matches.map(flowMod)))
      .split("\n")
      .filter((line) => line.startsWith("OFPT"));
    expect(printed).toHaveLength(matches.length);
    matches.forEach((m, i) => {
      const line = printed[i] as string;
      // Connection fields without an EtherType are accepted in a match and refused in a flow.
      if (line.includes("OFPBAC_MATCH_INCONSISTENT")) return;
      const words = formatMatch(m);
      expect(line.replace(/^.*: ADD /, "")).toBe(words === "" ? "actions=drop" : `${words} actions=drop`);
    });
  });

  test.skipIf(!hasOfctl)("typed as people type it gives the match that ovs-ofctl prints", () => {
    const typed = [
      "ip,nw_src=10.1.2.3/255.255.0.0",
      "tcp,tp_src=0x50,tp_dst=0x1f90/0xfff0",
      "udp6,udp_dst=53,ipv6_dst=2001:db8::/32",
      "sctp,sctp_src=9",
      "rarp,arp_tpa=1.2.3.4",
      "vlan_tci=0x1123",
      "in_port=4294967294,eth_dst=01:00:00:00:00:00/01:00:00:00:00:00",
      "tun_id=0x5/0xff,tun_src=1.1.1.1,tun_dst=2.2.2.2,tun_gbp_id=7",
      "ct_state=+trk-inv+new,ct_zone=0xffff,ct_mark=1",
      "ipv6,ipv6_label=0x12345,ip_frag=first,nw_ttl=64,ip_dscp=46",
      "conj_id=12,pkt_mark=0x3/0xf,metadata=0x1234",
      "icmp,icmp_type=8,icmp_code=0",
      "icmp,tp_src=8",
      "icmp6,icmp_type=128,tp_dst=0",
      "xxreg3=0x1/0xff",
      "actset_output=3",
    ];
    const printed = ofctl(
      ["-O", "OpenFlow13", "parse-flows", "-"],
      `${typed.map((t) => `${t},actions=drop`).join("\n")}\n`,
    )
      .split("\n")
      .flatMap((line) => /: ADD (.*) actions=drop$/.exec(line)?.[1] ?? []);
    expect(typed.map((t) => formatMatch(parseMatch(t)))).toEqual(printed);
  });

  test("errors say where and what could be there", () => {
    expect(failure(() => parseMatch("ip,nw_scr=1.2.3.4"))).toMatchObject({ column: 3 });
    expect(failure(() => parseMatch("ip,nw_scr=1.2.3.4")).expected).toContain("nw_src");
    expect(failure(() => parseMatch("in_port=eth0"))).toMatchObject({ column: 8 });
    expect(failure(() => parseMatch("tcp,tp_dst=70000"))).toMatchObject({ column: 11 });
    expect(failure(() => parseMatch("tp_dst=80"))).toMatchObject({ column: 0 });
    expect(failure(() => parseMatch("tp_dst=80")).expected).toContain("tcp");
    expect(failure(() => parseMatch("nw_proto=6/3,ip")).column).toBe(10);
    expect(failure(() => parseMatch("tcp,nw_proto=17")).column).toBe(4);
    expect(failure(() => parseMatch("tcp,tp_dst=")).column).toBe(10);
    expect(failure(() => parseMatch("skb_priority=1")).message).toContain("skb_priority");
    expect(failure(() => parseMatch("=5")).column).toBe(0);
  });

  test("a match's words are told from a flow's own", () => {
    for (const word of ["tcp", "nw_src", "dl_vlan", "reg3", "raw", "gtpu_flags"]) expect(isMatchWord(word)).toBe(true);
    for (const word of ["priority", "table", "actions", "cookie", "toString"]) expect(isMatchWord(word)).toBe(false);
  });

  test("any text is a match or a ParseError", () => {
    const words = fc.constantFrom(
      "ip",
      "tcp",
      "nw_src",
      "tp_dst",
      "ct_state",
      "raw",
      "dl_vlan",
      "=",
      ",",
      "/",
      "+",
      "-",
      "(",
      "0x1",
      "::",
      "|",
      " ",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(words, { maxLength: 12 }).map((w) => w.join("")),
        ),
        (text) => {
          try {
            expect(Array.isArray(parseMatch(text))).toBe(true);
          } catch (e) {
            expect(e).toBeInstanceOf(ParseError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe("OXM text", () => {
  test("both ways without loss", () => {
    fc.assert(
      fc.property(oxmTexts, (text) => {
        expect(formatOxms(parseOxms(text))).toBe(text);
      }),
    );
  });

  test("headers by number, and fields without a name", () => {
    expect(formatOxms(parseOxms("01020204(11112222)"))).toBe("258:1(11112222)");
    expect(formatOxms(parseOxms("ffff54064f4e4600(0002)"))).toBe("ONFOXM_ET_TCP_FLAGS(0002)");
    expect(formatOxms(parseOxms(" NXM_OF_IN_PORT( 00 01 )"))).toBe("NXM_OF_IN_PORT(0001)");
  });

  test.each([
    "OXM_OF_IN_PORT",
    "OXM_OF_NOTHING(00)",
    "OXM_OF_IN_PORT(0001)",
    "OXM_OF_IN_PORT_W(00000001/ffffffff)",
    "NXM_NX_REG0_W(00000001)",
    "NXM_NX_REG0(0000000)",
  ])("%s is refused", (text) => {
    expect(() => parseOxms(text)).toThrow(ParseError);
  });
});

describe("subfields", () => {
  test("of every field, whole and in part, both ways", () => {
    for (const f of fields) {
      for (const s of [
        { field: f.name, ofs: 0, nBits: f.bits },
        { field: f.name, ofs: f.bits - 1, nBits: 1 },
      ]) {
        expect(parseSubfield(formatSubfield(s))).toEqual(s);
      }
    }
    expect(formatSubfield({ field: "reg1", ofs: 0, nBits: 10 })).toBe("NXM_NX_REG1[0..9]");
    expect(parseSubfield("nw_src[8..15]")).toEqual({ field: "ip_src", ofs: 8, nBits: 8 });
    expect(parseSubfield("eth_src")).toEqual({ field: "eth_src", ofs: 0, nBits: 48 });
  });

  test.each(["reg0[5..3]", "reg0[32]", "nope[]", "reg0[", "reg0[1..", "vlan_vid[0..12]"])("%s is refused", (text) => {
    expect(() => parseSubfield(text)).toThrow(ParseError);
  });
});

describe("values", () => {
  test("addresses both ways", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), fc.bigInt({ min: 0n, max: 0xffn }), (a, few) => {
        // Addresses with runs of zeros are the ones with a choice of notation.
        const sparse = a & (few * 0x0001_0000_ffff_0000_0000_0000_0001_0000n);
        for (const ip of [a, sparse, few]) expect(parseIpv6(formatIpv6(ip))).toBe(ip);
        const mac = Number(a & 0xffff_ffff_ffffn);
        expect(parseMac(formatMac(mac))).toBe(mac);
      }),
    );
    expect(parseIpv4("1.2.3.256")).toBeUndefined();
    expect(parseIpv6("1:2:3::4:5:6:7:8:9")).toBeUndefined();
    expect(parseIpv6("::1::")).toBeUndefined();
  });

  test("ports by number and name", () => {
    expect(formatPort(0xfffffffd)).toBe("CONTROLLER");
    expect(parsePort("controller")).toBe(0xfffffffd);
    expect(parsePort("65534")).toBe(0xfffffffe);
    expect(parsePort("70000")).toBeUndefined();
  });

  test("of each field print in a form that reads back", () => {
    for (const f of fields) {
      if (["frag", "packet_type", "port", "tun_flags"].includes(f.format)) continue;
      const value = f.big ? 0x5n : 0x5;
      const valid = typeof f.valid === "number" && typeof value === "number" ? value & f.valid : value;
      expect(parseValue(f, formatValue(f, valid)), f.name).toEqual({ value: valid });
    }
  });
});

test("the canonical match of text is what the text says", () => {
  const m = parseMatch("tcp,reg1=5,nw_dst=10.0.0.0/8,in_port=3");
  expect(canonicalMatch(m)).toEqual(m);
  expect(m.map((f) => f.field)).toEqual(["in_port", "eth_type", "ip_dst", "nw_proto", "reg1"]);
});
