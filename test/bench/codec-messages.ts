/** What the codec bench encodes and decodes: the two kinds of flow that a balancer has most of, and what a switch sends most. */
import { encode } from "../../openflow/codec.ts";
import type { Instruction } from "../../openflow/instructions.ts";
import type { Match } from "../../openflow/match.ts";
import type { Message } from "../../openflow/messages/all.ts";

export const COUNT = 1000;
const ANY = 0xffff_ffff;

interface Flow {
  readonly cookie: bigint;
  readonly tableId: number;
  readonly priority: number;
  readonly match: Match;
  readonly instructions: readonly Instruction[];
}

/** Table 11: which member a slot of the hash belongs to. */
const slot = (i: number): Flow => ({
  cookie: 0x4c42_0705_0000_0001n,
  tableId: 11,
  priority: 100,
  match: [
    { field: "reg1", value: i },
    { field: "reg3", value: 1 },
  ],
  instructions: [
    {
      kind: "apply_actions",
      actions: [{ kind: "load", dst: { field: "reg2", ofs: 0, nBits: 32 }, value: BigInt(i + 1) }],
    },
    { kind: "goto_table", tableId: 12 },
  ],
});

/** Table 12: the translation to a member's address. */
const dnat = (i: number): Flow => ({
  cookie: 0x4c42_0806_0000_0001n,
  tableId: 12,
  priority: 100,
  // In the order that os-ken writes them.
  match: [
    { field: "reg2", value: i },
    { field: "eth_type", value: 0x800 },
  ],
  instructions: [
    {
      kind: "apply_actions",
      actions: [
        {
          kind: "ct",
          commit: true,
          force: false,
          zone: 1,
          table: 20,
          actions: [{ kind: "nat", type: "dst", address: 0x0a14_0000 + i, port: 8080 }],
        },
      ],
    },
  ],
});

const flowMod = (xid: number, flow: Flow): Message => ({
  type: "flow_mod",
  xid,
  cookieMask: 0n,
  command: 0,
  idleTimeout: 0,
  hardTimeout: 0,
  bufferId: ANY,
  outPort: ANY,
  outGroup: ANY,
  flags: 0,
  ...flow,
});

const flowMods = (of: (i: number) => Flow): Message[] => Array.from({ length: COUNT }, (_, i) => flowMod(i, of(i)));

export const slots = flowMods(slot);
export const dnats = flowMods(dnat);

/** One part of a table dump. */
export const flowStats: Message & { readonly type: "flow_stats_reply" } = {
  type: "flow_stats_reply",
  xid: 9,
  flags: 0,
  flows: Array.from({ length: 300 }, (_, i) => ({
    ...slot(i),
    cookie: 0x4c42_0705_0000_0000n + BigInt(i),
    durationSec: 60,
    durationNsec: i,
    idleTimeout: 0,
    hardTimeout: 0,
    flags: 0,
    packetCount: BigInt(10 * i),
    byteCount: BigInt(1000 * i),
  })),
};

/** An ARP request of 42 bytes. */
const frame = Buffer.from(
  "ffffffffffff02000000000108060001080006040001020000000001c0a80001000000000000c0a80002",
  "hex",
);

export const packetIn: Message & { readonly type: "packet_in" } = {
  type: "packet_in",
  xid: 0,
  bufferId: ANY,
  totalLen: frame.length,
  reason: 1,
  tableId: 5,
  cookie: 0x4c42_0201_0000_0001n,
  match: [{ field: "in_port", value: 3 }],
  data: frame,
};

export const packetIn2: Message = {
  type: "nxt_packet_in2",
  xid: 0,
  properties: [
    { kind: "packet", data: frame },
    { kind: "table_id", tableId: 5 },
    { kind: "cookie", cookie: 0x4c42_0201_0000_0001n },
    { kind: "reason", reason: 1 },
    {
      kind: "metadata",
      match: [
        { field: "in_port", value: 3 },
        { field: "reg0", value: 2 },
      ],
    },
    { kind: "userdata", data: Buffer.from([1, 0, 0, 7]) },
  ],
};

/** The bytes of many messages, one after another. */
export const bytesOf = (list: readonly Message[]): Buffer => Buffer.concat(list.map(encode));
