import type { Instruction } from "../../openflow/instructions.ts";
import type { Match } from "../../openflow/match.ts";
import type { Rng } from "./rng.ts";

/** A port number that exists in OpenFlow 1.0 too. */
export const port = (r: Rng): number => 1 + r.below(0xfeff);

export const matchOf = (r: Rng): Match =>
  r.pick<Match>([
    [],
    [{ field: "in_port", value: port(r) }],
    [
      { field: "eth_type", value: 0x0800 },
      { field: "nw_proto", value: 6 },
      { field: "ip_dst", value: (r.u32() & 0xffffff00) >>> 0, mask: 0xffffff00 },
      { field: "tcp_dst", value: r.u16() },
    ],
    [
      { field: "metadata", value: r.u64() },
      { field: "reg1", value: r.u32() },
      { field: "eth_dst", value: r.mac() },
    ],
    [
      { field: "eth_type", value: 0x86dd },
      { field: "ipv6_src", value: (r.u64() << 64n) | r.u64() },
    ],
  ]);

export const instructionsOf = (r: Rng): readonly Instruction[] =>
  r.pick<readonly Instruction[]>([
    [],
    [
      {
        kind: "apply_actions",
        actions: [
          { kind: "output", port: port(r), maxLen: 0 },
          { kind: "group", groupId: 7 },
        ],
      },
    ],
    [
      { kind: "meter", meterId: 1 + r.below(100) },
      { kind: "apply_actions", actions: [{ kind: "dec_ttl" }] },
      { kind: "goto_table", tableId: 254 },
    ],
    [{ kind: "clear_actions" }, { kind: "write_metadata", metadata: r.u64(), mask: 0xffff_ffff_ffff_ffffn }],
  ]);

/** A frame of an EtherType for local experiments, between stations. */
export const frame = (r: Rng): Buffer =>
  Buffer.concat([
    Buffer.from("0200", "hex"),
    r.bytes(4),
    Buffer.from("0200", "hex"),
    r.bytes(4),
    Buffer.from("88b5", "hex"),
    r.bytes(46),
  ]);

/** Bytes as an error quotes them. */
export const quoted = (r: Rng): Buffer =>
  Buffer.concat([Buffer.from("0403", "hex"), Buffer.from([0, 70]), r.bytes(66)]);

export const flowOf = (r: Rng) => ({
  tableId: r.below(254),
  durationSec: r.u32(),
  durationNsec: r.below(1_000_000_000),
  priority: r.u16(),
  idleTimeout: r.u16(),
  hardTimeout: r.u16(),
  flags: r.below(32),
  cookie: r.u64(),
  packetCount: r.u64(),
  byteCount: r.u64(),
  match: matchOf(r),
  instructions: instructionsOf(r),
});

export const bucketOf = (r: Rng) => ({
  weight: r.u16(),
  watchPort: 0xffff_ffff,
  watchGroup: 0xffff_ffff,
  actions: [{ kind: "output", port: port(r), maxLen: 0 }] as const,
});

export const portOf = (r: Rng) => ({
  portNo: port(r),
  hwAddr: r.mac(),
  name: `p${r.below(1000)}`,
  config: r.u32(),
  state: r.u32(),
  curr: r.u32(),
  advertised: r.u32(),
  supported: r.u32(),
  peer: r.u32(),
  currSpeed: r.u32(),
  maxSpeed: r.u32(),
});

export const masks = (r: Rng, bits: number) => ({ primary: r.below(bits), secondary: r.below(bits) });
export const times = <T>(n: number, make: () => T): T[] => Array.from({ length: n }, make);
export const bandsOf = (r: Rng) => [
  { kind: "drop", rate: r.u32(), burstSize: r.u32() } as const,
  { kind: "dscp_remark", rate: r.u32(), burstSize: r.u32(), precLevel: r.u8() } as const,
];
export const address = (r: Rng): Buffer => Buffer.concat([Buffer.from("00000000000000000000ffff", "hex"), r.bytes(4)]);
export const mappingOf = (r: Rng) => ({
  optionClass: r.u16(),
  optionType: r.u8(),
  optionLength: 4 * r.below(30),
  index: r.below(64),
});
export const ipfixOf = (r: Rng) => ({
  totalFlows: r.u64(),
  currentFlows: r.u64(),
  packets: r.u64(),
  ipv4Packets: r.u64(),
  ipv6Packets: r.u64(),
  errorPackets: r.u64(),
  ipv4ErrorPackets: r.u64(),
  ipv6ErrorPackets: r.u64(),
  txPackets: r.u64(),
  txErrors: r.u64(),
  collectorSetId: r.u32(),
});
export const tableOf = (r: Rng, tableId: number) => ({
  tableId,
  name: `t${tableId}`,
  metadataMatch: r.u64(),
  metadataWrite: r.u64(),
  config: 0,
  maxEntries: r.u32(),
  properties: [
    { kind: "instructions", ids: [{ type: 1 }, { type: 4 }, { type: 6 }] },
    { kind: "next_tables", tables: [tableId + 1, tableId + 2, tableId + 9] },
    { kind: "write_actions", ids: [{ type: 0 }, { type: 22 }] },
    {
      kind: "apply_actions",
      ids: [{ type: 0 }, { type: 25 }, { type: 0xffff, experimenter: 0x2320, data: r.bytes(0) }],
    },
    { kind: "match", headers: [0x80000004, 0x80000a02, 0x80000606, 0x80000806] },
    { kind: "wildcards", headers: [0x80000004, 0x80000606] },
    { kind: "write_set_field", headers: [0x80000606, 0x80000806] },
    { kind: "apply_set_field", headers: [0x00010004, 0x00010204, 0x00010404] },
  ] as const,
});
