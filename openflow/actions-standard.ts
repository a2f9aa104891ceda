/** The actions of OpenFlow 1.3.5 (§7.2.5), but for set_field, and those of 1.1 that set_field replaced. */
import type { Action, Plain, Tag } from "./action-values.ts";
import { action, type Check, customAction } from "./action-variant.ts";
import { DecodeError } from "./errors.ts";
import { modern } from "./legacy.ts";
import { mac, pad, u8, u16, u32 } from "./schema/codec.ts";
import { formatIpv4, formatMac } from "./text/address.ts";
import { formatOutput, isOutputPort } from "./text/output.ts";

type Kind<A extends Action> = A["kind"];

/** Refuses a value of the body's first `bytes` bytes that fails `ok`. */
const firstMust =
  (bytes: number, ok: (n: number) => boolean, code = "OFPBAC_BAD_ARGUMENT"): Check =>
  (b, at) => {
    const n = b.readUIntBE(at, bytes);
    if (!ok(n)) throw new DecodeError(code, at, `the argument 0x${n.toString(16)} is not possible`);
  };

const plain = <K extends Kind<Plain>>(type: number, kind: K) => action(type, kind, { _: pad(4) } as never, () => kind);

/** Actions that Open vSwitch has not: of whatever length, it does not know them. */
const absent = <K extends Kind<Plain>>(type: number, kind: K) =>
  customAction(type, kind, {
    min: 4,
    write: (w) => w.writeUInt32BE(0),
    read: () => ({ kind }) as never,
    check: (_b, at, end) => {
      if (end - at !== 4) throw new DecodeError("OFPBAC_BAD_TYPE", at, `${kind} of ${end - at + 4} bytes`);
    },
    text: () => kind,
  });

const hex4 = (n: number): string => `0x${n.toString(16).padStart(4, "0")}`;
const isVlan = (t: number): boolean => t === 0x8100 || t === 0x88a8;
const isMpls = (t: number): boolean => t === 0x8847 || t === 0x8848;

const tag = <K extends Kind<Tag>>(type: number, kind: K, ok: (t: number) => boolean, hex = hex4) =>
  action(type, kind, { etherType: u16, _: pad(2) } as never, (v) => `${kind}:${hex(v.etherType)}`, {
    check: firstMust(2, ok),
  });

const standard = [
  action(0, "output", { port: u32, maxLen: u16, _: pad(6) }, (v) => formatOutput(v.port, v.maxLen), {
    check: (b, at) => {
      const port = b.readUInt32BE(at);
      if (port < 0xff00) return;
      if (!isOutputPort(port)) throw new DecodeError("OFPBAC_BAD_OUT_PORT", at, `no output to port ${port}`);
    },
  }),
  absent(11, "copy_ttl_out"),
  absent(12, "copy_ttl_in"),
  action(15, "set_mpls_ttl", { ttl: u8, _: pad(3) }, (v) => `set_mpls_ttl(${v.ttl})`),
  plain(16, "dec_mpls_ttl"),
  tag(17, "push_vlan", isVlan, (t) => `0x${t.toString(16)}`),
  plain(18, "pop_vlan"),
  tag(19, "push_mpls", isMpls),
  tag(20, "pop_mpls", () => true),
  action(21, "set_queue", { queueId: u32 }, (v) => `set_queue:${v.queueId}`),
  action(22, "group", { groupId: u32 }, (v) => `group:${v.groupId}`),
  action(23, "mod_nw_ttl", { ttl: u8, _: pad(3) }, (v) => `mod_nw_ttl:${v.ttl}`),
  tag(26, "push_pbb", () => true),
  absent(27, "pop_pbb"),
] as const;

/** Decoding gives bodies their kind, and encoding is given whole values: a body here is an action. */
const writtenAs = (v: object): Action => modern(v as Action);

const macAction = <K extends "mod_dl_src" | "mod_dl_dst">(type: number, kind: K) =>
  action(type, kind, { address: mac, _: pad(6) } as never, (v) => `${kind}:${formatMac(v.address)}`, { writtenAs });
const ipAction = <K extends "mod_nw_src" | "mod_nw_dst">(type: number, kind: K) =>
  action(type, kind, { address: u32 } as never, (v) => `${kind}:${formatIpv4(v.address)}`, { writtenAs });
const portAction = <K extends "mod_tp_src" | "mod_tp_dst">(type: number, kind: K) =>
  action(type, kind, { port: u16, _: pad(2) } as never, (v) => `${kind}:${v.port}`);

const legacy = [
  action(1, "set_vlan_vid", { vid: u16, _: pad(2) }, (v) => `set_vlan_vid:${v.vid}`, {
    check: firstMust(2, (n) => n < 0x1000),
    writtenAs,
  }),
  action(2, "set_vlan_pcp", { pcp: u8, _: pad(3) }, (v) => `set_vlan_pcp:${v.pcp}`, {
    check: firstMust(1, (n) => n < 8),
    writtenAs,
  }),
  macAction(3, "mod_dl_src"),
  macAction(4, "mod_dl_dst"),
  ipAction(5, "mod_nw_src"),
  ipAction(6, "mod_nw_dst"),
  action(7, "mod_nw_tos", { tos: u8, _: pad(3) }, (v) => `mod_nw_tos:${v.tos}`, {
    check: firstMust(1, (n) => n % 4 === 0),
    writtenAs,
  }),
  action(8, "mod_nw_ecn", { ecn: u8, _: pad(3) }, (v) => `mod_nw_ecn:${v.ecn}`, {
    check: firstMust(1, (n) => n < 4),
    writtenAs,
  }),
  portAction(9, "mod_tp_src"),
  portAction(10, "mod_tp_dst"),
  action(13, "set_mpls_label", { label: u32 }, (v) => `set_mpls_label(${v.label})`, { writtenAs }),
  action(14, "set_mpls_tc", { tc: u8, _: pad(3) }, (v) => `set_mpls_tc(${v.tc})`, { writtenAs }),
] as const;

export const standardVariants = [...standard, ...legacy] as const;
