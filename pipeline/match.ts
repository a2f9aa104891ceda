/** Matches of the pipeline: written as plain records, kept in the one canonical form that switches send back. */
import { canonicalMatch } from "../openflow/canonical.ts";
import type { FieldName, FieldValue } from "../openflow/fields.ts";
import type { Match, OxmField } from "../openflow/match.ts";
import type { Protocol } from "./model.ts";

/** A value with the bits of it that count. */
export interface Masked {
  readonly value: FieldValue;
  readonly mask: FieldValue;
}

/** Fields by name. */
export type MatchRecord = { readonly [F in FieldName]?: FieldValue | Masked };

/** What tells protocols apart; spread these in front of the fields that need them. */
export const arp = { eth_type: 0x0806 } as const;
export const ip = { eth_type: 0x0800 } as const;
export const icmp = { ...ip, nw_proto: 1 } as const;
export const tcp = { ...ip, nw_proto: 6 } as const;
export const udp = { ...ip, nw_proto: 17 } as const;

/** Headers of the protocols that listeners may have. */
export const transport = { tcp, udp } as const;

/** Packets to and from a port; fragments have none. */
export const toPort = (protocol: Protocol, port: number): MatchRecord =>
  protocol === "tcp" ? { ...tcp, tcp_dst: port } : { ...udp, udp_dst: port };
export const fromPort = (protocol: Protocol, port: number): MatchRecord =>
  protocol === "tcp" ? { ...tcp, tcp_src: port } : { ...udp, udp_src: port };

/** What is left of an IP packet that was cut (ovs-fields(7), "nw_frag"): any piece, any but the first, none. */
export const fragment = { ip_frag: { value: 1, mask: 1 } } as const;
export const laterFragment = { ip_frag: 3 } as const;
export const unfragmented = { ip_frag: 0 } as const;

/** An IPv4 network as a masked value. */
export const prefix = (p: { readonly address: number; readonly length: number }): Masked => ({
  value: p.address,
  mask: p.length === 0 ? 0 : (0xffff_ffff << (32 - p.length)) >>> 0,
});

/** The canonical match of a record. */
export const matchOf = (record: MatchRecord): Match =>
  canonicalMatch(
    Object.entries(record).map(([field, v]) =>
      typeof v === "object" ? { field: field as FieldName, ...v } : { field: field as FieldName, value: v },
    ),
  );

/** The value of a field that is matched exactly; undefined when it is masked or not matched at all. */
export const exactValue = (match: Match, field: FieldName): FieldValue | undefined => {
  const found = match.find((f) => f.field === field) as OxmField | undefined;
  return found === undefined || found.mask !== undefined ? undefined : found.value;
};
