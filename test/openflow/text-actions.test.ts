import fc from "fast-check";
import { SmartBuffer } from "smart-buffer";
import { describe, expect, it } from "vitest";
import type { Action } from "../../openflow/actions.ts";
import { type Instruction, instructions } from "../../openflow/instructions.ts";
import { formatActions, formatInstructions } from "../../openflow/text/actions.ts";
import { type ActionContext, parseActions, parseInstructions } from "../../openflow/text/parse-actions.ts";
import { ParseError } from "../../openflow/text/parse-error.ts";
import { actionKinds, instructionList } from "../support/arbitraries.ts";
import { hasOfctl } from "../support/ofctl.ts";
import { instructionsOf, sentFlowMods } from "../support/ofctl-flows.ts";

const hexOf = (list: readonly Instruction[]): string => {
  const w = SmartBuffer.fromSize(256);
  instructions.write(w, list);
  return w.toBuffer().toString("hex");
};

/** Matches, and what they mean for the words of OpenFlow 1.0. */
const matches: Readonly<Record<string, ActionContext>> = {
  "": {},
  "ip,": {},
  "tcp,": { ipProto: 6 },
  "udp,": { ipProto: 17 },
  "sctp,": { ipProto: 132 },
  "ipv6,": {},
  "arp,": {},
  "mpls,": {},
  "dl_vlan=9,": { tagged: true },
  "ct_state=+trk+est,ip,": {},
  "packet_type=(1,0x894f),": {},
};

/** Flows that ovs-ofctl takes, a line for each way to say something. */
const FLOWS = `
actions=drop
actions=1,2,LOCAL,in_port,NORMAL,flood
actions=output:3,output:LOCAL,output:NXM_NX_REG0[16..31],output:reg1,output(port=4,max_len=100)
actions=controller,CONTROLLER:128,output:controller
actions=controller(max_len=5),controller(reason=no_match,id=9),controller(userdata=00.01.02ff,pause,meter_id=7)
actions=enqueue:1:2,enqueue(LOCAL,3)
actions=group:5,set_queue:7,pop_queue
actions=bundle(eth_src,0,hrw,ofport,members:1,2,3),bundle(symmetric_l4,60,active_backup,ofport,slaves:)
actions=bundle_load(eth_src,0,hrw,ofport,NXM_NX_REG0[0..15],members:1,2)
ip,actions=set_field:10.0.0.1->ip_src,set_field:10.1.0.0/16->nw_dst
actions=set_field:02:00:00:00:00:01->eth_src,set_field:01:00:00:00:00:00/01:00:00:00:00:00->eth_dst
actions=set_field:5->reg0,set_field:0xf0f/0xf0f->reg1,set_field:0x1/0xffffffffffffffffffffffffffffff01->xxreg0
actions=set_field:0x12345678->metadata,set_field:7->tun_id,set_field:1.2.3.4->tun_dst
actions=set_field:0x1234->tun_metadata0,set_field:0x1234/0xff34->tun_metadata0
ipv6,actions=set_field:2001:db8::1->ipv6_src,set_field:2001:db8::/32->ipv6_dst,set_field:5->ipv6_label
tcp,actions=set_field:80->tcp_dst,set_field:0x50/0xff->tcp_src
dl_vlan=9,actions=set_field:4101->vlan_vid,set_field:6->vlan_pcp
arp,actions=set_field:2->arp_op,move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],move:arp_spa->arp_tpa
actions=load:5->reg0,load:0xa->NXM_NX_REG0[4..7],load:1->NXM_NX_REG0[31],load:010->metadata
actions=load:0x112233445566778899aabbccddeeff00->NXM_NX_XXREG0[],load:1->tun_metadata0[0..3]
actions=move:NXM_NX_REG0[0..15]->NXM_NX_REG1[16..31],push:reg0,pop:NXM_NX_REG3[0..5]
actions=mod_dl_src:02:00:00:00:00:0a,mod_dl_dst:2:0:0:0:0:b
ip,actions=mod_nw_src:1.2.3.4,mod_nw_dst:5.6.7.8,mod_nw_tos:252,mod_nw_ecn:3,mod_nw_ttl:7,set_nw_ttl:8
tcp,actions=mod_tp_src:1,mod_tp_dst:2
udp,actions=mod_tp_src:1,mod_tp_dst:2
sctp,actions=mod_tp_src:1,mod_tp_dst:2
actions=mod_vlan_pcp:3,mod_vlan_vid:5,strip_vlan,mod_vlan_vid:6
dl_vlan=9,actions=mod_vlan_vid:5,set_vlan_pcp:1,pop_vlan
actions=push_vlan:0x88a8,mod_vlan_vid:5
actions=push_mpls:0x8847,set_mpls_label:5,set_mpls_tc:3,set_mpls_ttl:9,dec_mpls_ttl
mpls,actions=pop_mpls:0x800
ip,actions=dec_ttl,dec_ttl(),dec_ttl(1),dec_ttl(0,1,2)
actions=set_tunnel:5,set_tunnel64:0x123456789a,delete_field:tun_metadata5
actions=check_pkt_larger(1500)->NXM_NX_REG0[0],check_pkt_larger:9000->reg0[1]
actions=resubmit:1,resubmit(1,2),resubmit(,2),resubmit(LOCAL,2),resubmit(1,)
ct_state=+trk+est,ip,actions=resubmit(,2,ct)
actions=learn(),learn(table=1,idle_timeout=1,hard_timeout=2,fin_idle_timeout=3,fin_hard_timeout=4,priority=5,cookie=6)
actions=learn(table=1,send_flow_rem,delete_learned,limit=5,result_dst=NXM_NX_REG0[3]),learn(table=1,limit=0)
actions=learn(table=1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],load:NXM_OF_IN_PORT[]->NXM_NX_REG0[0..15],output:in_port)
actions=learn(table=1,dl_type=0x800,nw_proto=6,nw_dst=1.2.3.4,tcp_dst=80,NXM_OF_IP_SRC[]=1.2.3.5)
actions=learn(table=1,reg0=5,reg1=reg2,reg3,NXM_NX_REG4[0..15]=0x1234,NXM_NX_REG5[0..3],eth_src=eth_dst)
actions=learn(table=1,load:5->reg1,load:0x112233445566778899->NXM_NX_XXREG0[],load:reg0[0..7]->eth_src[0..7])
ip,actions=conjunction(5,1/2),conjunction(0x6, 2 / 2),note:00
actions=multipath(symmetric_l4, 1024, hash_threshold, 5, 0, NXM_NX_REG0[0..7]),multipath(nw_src,1,iter_hash,16,7,reg0)
actions=note:00.11.22,note:001122334455667788,note:
actions=sample(probability=100,collector_set_id=1,obs_domain_id=2,obs_point_id=3),sample(probability=1,ingress)
actions=sample(probability=100,sampling_port=LOCAL,egress)
tcp,actions=fin_timeout(idle_timeout=5,hard_timeout=6),fin_timeout()
actions=clone(output:1,clone(set_field:5->reg0,output:2)),clone(),exit
ip,actions=ct,ct(),ct(commit,force),ct(table=5,zone=5),ct(zone=reg0[0..15]),ct(nat),ct_clear
tcp,actions=ct(commit,alg=ftp,nat(dst=1.2.3.4-1.2.3.5:80-90,hash,persistent))
udp,actions=ct(commit,alg=tftp,nat(src),exec(set_field:5->ct_mark,load:5->NXM_NX_CT_LABEL[],set_field:0x5/0xf->ct_label))
ipv6,actions=ct(commit,nat(src=fe80::1-fe80::5)),ct(commit,nat(src=[fe80::1]:80)),ct(commit,nat(dst=::ffff:1.2.3.4))
actions=encap(nsh(md_type=2,tlv(0x1000,10,0x12345678))),encap(ethernet),decap
packet_type=(1,0x894f),actions=decap(packet_type(ns=0,type=0))
actions=meter:1,output:2,clear_actions,write_actions(output:3),write_metadata:5/0xff,goto_table:7
actions=write_actions(),write_metadata:0x5
actions=OUTPUT:1 Set_Field:5->reg0
`
  .trim()
  .split("\n");

function parseFlow(flow: string): Instruction[] {
  const at = flow.indexOf("actions=");
  return parseInstructions(flow.slice(at + "actions=".length), matches[flow.slice(0, at)]);
}

describe("text of actions", () => {
  it.each([
    ["output:", 7, /not a port/],
    ["output:1,bogus:2", 9, /unknown action "bogus"; possible here: output, controller/],
    ["set_field:1.2.3.4->reg0", 10, /not a value of reg0/],
    ["set_field:1->eth_type", 13, /read-only/],
    ["load:0x10->NXM_NX_REG0[0..3]", 5, /does not fit 4 bits/],
    ["move:reg0[0..3]->reg1[0..4]", 17, /4 bits do not go into 5/],
    ["ct(commit,bogus)", 10, /ct has no argument "bogus"; possible here: commit, force/],
    ["ct(commit,nat(src=1.2.3.4,random,hash))", 33, /exclude/],
    ["ct(exec(set_field:5->ct_mark))", 0, /wants commit/],
    ["learn(table=1,foo=5)", 14, /learn has no argument "foo"; possible here: table=N/],
    ["learn(table=255)", 12, /no table 255/],
    ["controller(reason=because)", 18, /possible here: no_match, action/],
    ["multipath(eth_src,0,modulo_n,7,reg0)", 35, /FIELD\[\] is missing/],
    ["resubmit(,)", 9, /a port or a table is wanted/],
    ["check_pkt_larger(1500)->reg0", 24, /one bit/],
    ["note:0g", 5, /hex digits/],
    ["dec_ttl(x)", 8, /not a number/],
    ["output:1,ct(commit", 18, /not closed/],
    ["nat(src=1.2.3.4)", 0, /nat outside ct/],
    ["goto_table:1", 0, /instruction goto_table cannot be nested/],
    ["output:1,drop", 9, /alone/],
    ["conjunction(1,1/2),output:1", 0, /conjunction beside output/],
  ])("says where and why it cannot read %s", (text, column, message) => {
    let error: unknown;
    try {
      parseActions(text);
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(ParseError);
    expect((error as ParseError).message).toMatch(message);
    expect((error as ParseError).column).toBe(column);
  });

  it("keeps instructions in their order", () => {
    expect(() => parseInstructions("goto_table:1,output:2")).toThrow(/cannot come after goto_table/);
    expect(() => parseInstructions("output:1,meter:2")).toThrow(/cannot come after output/);
  });

  it("counts columns from where the text begins", () => {
    expect(() => parseActions("bogus", {}, 30)).toThrow(expect.objectContaining({ column: 30 }));
  });

  it.each(Object.keys(actionKinds).filter((k) => k !== "set_masked"))("reads back what it prints: %s", (kind) => {
    const inCt = (a: Action): Action =>
      a.kind === "nat" ? { kind: "ct", commit: true, force: false, zone: 0, actions: [a] } : a;
    fc.assert(
      fc.property((actionKinds[kind] as fc.Arbitrary<Action>).map(inCt), (a) => {
        const text = formatActions([a]);
        expect(formatActions(parseActions(text))).toBe(text.replace("dec_ttl()", "dec_ttl"));
      }),
    );
  });

  it("reads back the instructions it prints", () => {
    fc.assert(
      fc.property(instructionList, (list) => {
        const text = formatInstructions(list).replace(/write_actions\(drop\),?/, "");
        expect(formatInstructions(parseInstructions(text))).toBe(text.replace(/,$/, "") || "drop");
      }),
    );
  });

  it("never fails but by a ParseError", () => {
    const words = fc.constantFrom(
      "ct(",
      "learn(",
      "nat(",
      "load:",
      "->",
      "reg0",
      "[0..",
      "]",
      "=",
      ",",
      ")",
      "0x1",
      "set_field:",
      "fe80::1",
      "output:",
      "exec(",
      "note:",
      "encap(nsh(",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(words, { maxLength: 12 }).map((w) => w.join("")),
          fc.string(),
        ),
        (text) => {
          try {
            expect(Array.isArray(parseInstructions(text))).toBe(true);
          } catch (e) {
            expect(e).toBeInstanceOf(ParseError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe.skipIf(!hasOfctl)("text of actions against ovs-ofctl", () => {
  it("becomes the bytes that it sends", async () => {
    const sent = await sentFlowMods(FLOWS);
    expect(FLOWS.map((flow) => ({ flow, hex: hexOf(parseFlow(flow)) }))).toEqual(
      sent.map((m, i) => ({ flow: FLOWS[i], hex: instructionsOf(m) })),
    );
  });
});
