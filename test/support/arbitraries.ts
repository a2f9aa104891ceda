/** Actions and instructions that Open vSwitch takes, in the form in which it would give them back. */
import fc from "fast-check";
import type { LearnSpec, Nat } from "../../openflow/action-values-nx.ts";
import type { Action } from "../../openflow/actions.ts";
import { isValidValue } from "../../openflow/check-match.ts";
import { type FieldDef, type FieldName, type FieldValue, fields } from "../../openflow/fields.ts";
import type { Instruction } from "../../openflow/instructions.ts";
import type { Subfield } from "../../openflow/text/subfield.ts";

const u = (bits: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: 2 ** bits - 1 });
const big = (bits: number): fc.Arbitrary<bigint> => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
const port = fc.integer({ min: 0, max: 0xfeff });
const reserved = fc.constantFrom(0xfffffff8, 0xfffffffe);
const outPort = fc.oneof(port, fc.constantFrom(0xfffffff8, 0xfffffff9, 0xfffffffa, 0xfffffffb, 0xfffffffc, 0xfffffffe));

const plainFields = fields.filter((f) => f.nxm.experimenter === undefined && !f.variable);
/** Open vSwitch prints learned constants of the others, when they are not sound, in ways that nobody reads back. */
const soundFields = plainFields.filter((f) => !["packet_type", "ct_state", "ip_frag"].includes(f.name));
const isCt = (f: FieldDef): boolean => f.name === "ct_mark" || f.name === "ct_label";
const writable = plainFields.filter((f) => f.writable && !isCt(f));

const anyBits = (of: readonly FieldDef<FieldName>[], most = 64, least = 1): fc.Arbitrary<Subfield> =>
  fc.constantFrom(...of.filter((f) => f.bits >= least)).chain((f) =>
    fc.oneof(
      fc.constant({ field: f.name, ofs: 0, nBits: Math.max(least, Math.min(f.bits, most)) }),
      fc
        .integer({ min: least, max: Math.min(f.bits, most) })
        .chain((nBits) => fc.integer({ min: 0, max: f.bits - nBits }).map((ofs) => ({ field: f.name, ofs, nBits }))),
    ),
  );

const source = anyBits(plainFields);
const target = anyBits(writable);
const hashFields = fc.constantFrom(
  "eth_src",
  "symmetric_l4",
  "symmetric_l3l4",
  "symmetric_l3l4+udp",
  "nw_src",
  "nw_dst",
  "symmetric_l3",
);

/** A value that the field may have. */
const valueFor = (f: FieldDef<FieldName>): fc.Arbitrary<FieldValue> =>
  big(Math.min(f.bits, 120))
    .map((n): FieldValue => (f.big ? n : Number(n & BigInt(f.valid))))
    .map((n) => (f.name === "vlan_vid" ? Number(n) | 0x1000 : n))
    .filter((n) => isValidValue(f, n));

const setField = fc
  .constantFrom(...fields.filter((f) => f.writable && !isCt(f) && f.name !== "in_port_oxm"))
  .chain((f) => fc.record({ kind: fc.constant("set_field" as const), field: fc.constant(f.name), value: valueFor(f) }));

const setMasked = fc.constantFrom(...writable.filter((f) => f.maskable && f.name !== "vlan_vid")).chain((f) =>
  fc.tuple(valueFor(f), big(f.bytes * 8)).map(([value, bits]): Action => {
    const narrow = (n: bigint): FieldValue => (f.big ? n : Number(n));
    return { kind: "set_field", field: f.name, value: narrow(BigInt(value) & bits), mask: narrow(bits) };
  }),
);

const loadOf = (dst: fc.Arbitrary<Subfield>): fc.Arbitrary<Action> =>
  dst.chain((d) => big(d.nBits).map((value) => ({ kind: "load" as const, dst: d, value })));

const moveOf = (dsts: readonly FieldDef<FieldName>[]): fc.Arbitrary<Action> =>
  fc.tuple(anyBits(plainFields, 128), fc.constantFrom(...dsts)).chain(([s, d]) => {
    const nBits = Math.min(s.nBits, d.bits);
    return fc.tuple(fc.integer({ min: 0, max: d.bits - nBits }), fc.boolean()).map(
      ([ofs, onf]): Action => ({
        kind: "move",
        src: { ...s, nBits },
        dst: { field: d.name, ofs, nBits },
        ...(onf ? { onf: true as const } : {}),
      }),
    );
  });

const constant = (nBits: number): fc.Arbitrary<bigint> => big(Math.min(nBits, 100));
const learnSpec: fc.Arbitrary<LearnSpec> = fc.oneof(
  anyBits(soundFields, 128).chain((dst) => constant(dst.nBits).map((src) => ({ kind: "match" as const, dst, src }))),
  source.map((src) => ({ kind: "match" as const, dst: src, src })),
  anyBits(writable, 128).chain((dst) => constant(dst.nBits).map((src) => ({ kind: "load" as const, dst, src }))),
  source.map((src) => ({ kind: "load" as const, dst: { field: "xxreg0" as const, ofs: 3, nBits: src.nBits }, src })),
  source.map((src) => ({ kind: "output" as const, src })),
);

const learn = fc
  .record(
    {
      kind: fc.constant("learn" as const),
      table: fc.integer({ min: 0, max: 254 }),
      priority: u(16),
      cookie: big(64),
      idleTimeout: u(16),
      hardTimeout: u(16),
      finIdleTimeout: u(16),
      finHardTimeout: u(16),
      sendFlowRem: fc.boolean(),
      deleteLearned: fc.boolean(),
      specs: fc.array(learnSpec, { maxLength: 5 }),
      limit: u(32),
      resultDst: anyBits(writable, 1),
    },
    {
      requiredKeys: [
        "kind",
        "table",
        "priority",
        "cookie",
        "idleTimeout",
        "hardTimeout",
        "finIdleTimeout",
        "finHardTimeout",
        "sendFlowRem",
        "deleteLearned",
        "specs",
      ],
    },
  )
  .map((v): Action => (v.resultDst && v.limit === undefined ? { ...v, limit: 0 } : v) as Action);

const range = fc.oneof(
  fc.constant({}),
  fc
    .tuple(fc.integer({ min: 1, max: 0xffffffff }), fc.option(u(32)), fc.option(fc.tuple(u(16), fc.option(u(16)))))
    .map(([address, more, ports]) => ({ address, ...upTo(address, more), ...portsOf(ports) })),
  fc
    .tuple(
      big(128).map((n) => n + 1n),
      fc.option(big(64)),
      fc.option(fc.tuple(u(16), fc.option(u(16)))),
    )
    .filter(([a]) => a < 1n << 128n)
    .map(([address, more, ports]) => {
      const addressMax = more === null || address + more >= 1n << 128n ? undefined : address + more;
      return { address, ...(addressMax === undefined ? {} : { addressMax }), ...portsOf(ports) };
    }),
);
function upTo(low: number, more: number | null) {
  return more === null || low + more > 0xffffffff ? {} : { addressMax: low + more };
}
function portsOf(ports: readonly [number, number | null] | null) {
  if (ports === null) return {};
  const first = Math.max(ports[0], 1);
  return { port: first, ...(ports[1] === null ? {} : { portMax: Math.max(first, ports[1]) }) };
}

const nat: fc.Arbitrary<Nat> = fc
  .tuple(
    fc.constantFrom("src" as const, "dst" as const),
    range,
    fc.boolean(),
    fc.constantFrom(undefined, "hash" as const, "random" as const),
  )
  .map(([type, r, persistent, choice]) => ({
    kind: "nat",
    type,
    ...r,
    ...(persistent ? { persistent: true as const } : {}),
    ...(choice ? { choice } : {}),
  }));

const ctFields = plainFields.filter(isCt);
const ctWrite = fc.oneof(
  loadOf(anyBits(ctFields)),
  moveOf(ctFields),
  fc
    .constantFrom(...ctFields)
    .chain((f) => valueFor(f).map((value) => ({ kind: "set_field" as const, field: f.name, value }))),
);
const zone = fc.oneof(u(16), anyBits(plainFields, 16, 16));
const ctRest = {
  zone,
  table: fc.option(fc.integer({ min: 0, max: 254 }), { nil: undefined }),
  alg: fc.constantFrom(undefined, 21, 69, 99),
};
const given = <T extends object>(v: T): T =>
  Object.fromEntries(Object.entries(v).filter(([, x]) => x !== undefined)) as T;
const ct: fc.Arbitrary<Action> = fc.oneof(
  fc
    .record({
      ...ctRest,
      force: fc.boolean(),
      actions: fc
        .tuple(fc.option(nat), fc.array(ctWrite, { maxLength: 3 }))
        .map(([n, w]): readonly Action[] => (n ? [n, ...w] : w)),
    })
    .map((v) => given({ kind: "ct" as const, commit: true, ...v }) as Action),
  fc
    .record({ ...ctRest, actions: fc.constantFrom<readonly Action[]>([], [{ kind: "nat" }]) })
    .map((v) => given({ kind: "ct" as const, commit: false, force: false, ...v }) as Action),
);

const controller = fc
  .record(
    {
      kind: fc.constant("controller" as const),
      maxLen: u(16),
      controllerId: u(16),
      reason: fc.constantFrom(0, 1, 2, 3, 4, 5, 9),
      userdata: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((b) => Buffer.from(b)),
      pause: fc.constant(true as const),
      meterId: fc.integer({ min: 1, max: 0xffff }),
    },
    { requiredKeys: ["kind", "maxLen", "controllerId", "reason"] },
  )
  .map((v) => v as Action);

const members = fc.array(fc.oneof(port, reserved), { maxLength: 9 });
const bundle = fc
  .record(
    {
      kind: fc.constant("bundle" as const),
      fields: hashFields,
      basis: u(16),
      algorithm: fc.constantFrom("hrw", "active_backup"),
      members,
      dst: anyBits(writable, 64, 16),
    },
    { requiredKeys: ["kind", "fields", "basis", "algorithm", "members"] },
  )
  .map((v) => v as Action);

const multipath = target.chain((dst) =>
  fc
    .record({
      kind: fc.constant("multipath" as const),
      fields: hashFields,
      basis: u(16),
      algorithm: fc.constantFrom("modulo_n", "hash_threshold", "hrw", "iter_hash"),
      links: fc.integer({ min: 1, max: 2 ** Math.min(dst.nBits, 16) }),
      arg: u(32),
      dst: fc.constant(dst),
    })
    .map((v) => v as Action),
);

const sample = fc
  .record(
    {
      kind: fc.constant("sample" as const),
      probability: fc.integer({ min: 1, max: 0xffff }),
      collectorSetId: u(32),
      obsDomainId: u(32),
      obsPointId: u(32),
      samplingPort: fc.oneof(port, reserved),
      direction: fc.constantFrom("ingress", "egress"),
    },
    { requiredKeys: ["kind", "probability", "collectorSetId", "obsDomainId", "obsPointId"] },
  )
  .map((v): Action => (v.direction && v.samplingPort === undefined ? { ...v, samplingPort: 0xffffffff } : v) as Action);

/** Notes and the like fill up to the action's size on the wire. */
const noteBytes = fc
  .integer({ min: 0, max: 3 })
  .chain((n) => fc.uint8Array({ minLength: 6 + 8 * n, maxLength: 6 + 8 * n }).map((b) => Buffer.from(b)));

const act = <T extends object>(v: fc.Arbitrary<T>): fc.Arbitrary<Action> => v.map((x) => x as unknown as Action);
const of = <K extends string, T extends object>(kind: K, rest: { [P in keyof T]: fc.Arbitrary<T[P]> }) =>
  act(fc.record({ kind: fc.constant(kind), ...rest } as Record<string, fc.Arbitrary<unknown>>));

/** One arbitrary for each kind of action that may stand in a list. */
export const actionKinds: Readonly<Record<string, fc.Arbitrary<Action>>> = {
  output: act(outPort.map((p) => ({ kind: "output", port: p, maxLen: 0 }))),
  to_controller: act(u(16).map((maxLen) => ({ kind: "output", port: 0xfffffffd, maxLen }))),
  group: of("group", { groupId: u(32) }),
  set_queue: of("set_queue", { queueId: u(32) }),
  set_field: act(setField),
  set_masked: setMasked,
  load: loadOf(target),
  move: moveOf(writable),
  push: act(anyBits(plainFields, 1024).map((src) => ({ kind: "push", src }))),
  pop: act(anyBits(writable, 1024).map((dst) => ({ kind: "pop", dst }))),
  output_reg: act(
    fc
      .tuple(source, u(16), fc.boolean())
      .map(([src, maxLen, wide]) => ({ kind: "output_reg", src, maxLen, ...(wide ? { wide: true } : {}) })),
  ),
  output_trunc: of("output_trunc", {
    port: fc.oneof(port, reserved),
    maxLen: fc.integer({ min: 14, max: 0xffffffff }),
  }),
  plain: act(
    fc
      .constantFrom("dec_mpls_ttl", "pop_vlan", "pop_queue", "exit", "ct_clear", "dec_nsh_ttl")
      .map((kind) => ({ kind })),
  ),
  dec_ttl: act(
    fc.option(fc.array(u(16), { maxLength: 7 })).map((ids) => ({ kind: "dec_ttl", ...(ids ? { ids } : {}) })),
  ),
  mod_nw_ttl: of("mod_nw_ttl", { ttl: u(8) }),
  set_mpls_ttl: of("set_mpls_ttl", { ttl: u(8) }),
  push_vlan: of("push_vlan", { etherType: fc.constantFrom(0x8100, 0x88a8) }),
  push_mpls: of("push_mpls", { etherType: fc.constantFrom(0x8847, 0x8848) }),
  pop_mpls: of("pop_mpls", { etherType: u(16) }),
  mod_tp: act(fc.tuple(fc.constantFrom("mod_tp_src", "mod_tp_dst"), u(16)).map(([kind, p]) => ({ kind, port: p }))),
  resubmit: act(
    fc
      .tuple(fc.oneof(port, reserved), u(8), fc.boolean())
      .filter(([inPort, table]) => inPort !== 0xfffffff8 || table !== 0xff)
      .map(([inPort, table, viaCt]) => ({ kind: "resubmit", inPort, table, ...(viaCt ? { ct: true } : {}) })),
  ),
  controller,
  bundle,
  multipath,
  learn,
  fin_timeout: of("fin_timeout", { idleTimeout: u(16), hardTimeout: u(16) }),
  note: act(noteBytes.map((data) => ({ kind: "note", data }))),
  sample,
  ct,
  check_pkt_larger: act(
    fc.tuple(u(16), anyBits(writable, 1)).map(([bytes, dst]) => ({ kind: "check_pkt_larger", bytes, dst })),
  ),
  delete_field: act(u(6).map((n) => ({ kind: "delete_field", field: `tun_metadata${n}` }))),
  encap: act(
    fc.constantFrom(0, 0x1894f, 0x18847, 0x18848).map((packetType) => ({
      kind: "encap",
      packetType,
      headerSize: 0,
      properties: [],
    })),
  ),
  encap_nsh: act(
    fc.tuple(fc.constantFrom(1, 2), u(16), u(8), fc.uint8Array({ minLength: 1, maxLength: 20 })).map((nsh) => {
      const [md, tlvClass, type, data] = nsh;
      const head = Buffer.of(tlvClass >> 8, tlvClass & 0xff, type, data.length);
      const padding = Buffer.alloc(Math.ceil(data.length / 8) * 8 - data.length);
      return {
        kind: "encap",
        packetType: 0x1894f,
        headerSize: 0,
        properties: [
          { propClass: 4, type: 1, data: Buffer.of(md) },
          { propClass: 4, type: 2, data: Buffer.concat([head, data, padding]) },
        ],
      };
    }),
  ),
  decap: of("decap", { packetType: fc.oneof(fc.constant(0xfffe), u(17)) }),
};

/** Any action but those that must stand alone, sometimes with others inside. */
const action: fc.Arbitrary<Action> = fc.letrec<{ one: Action; leaf: Action; clone: Action }>((tie) => ({
  one: fc.oneof({ maxDepth: 3, withCrossShrink: true }, tie("leaf"), tie("clone")),
  leaf: fc.oneof(...Object.values(actionKinds)),
  clone: fc
    .array(tie("one"), { maxLength: 3, depthIdentifier: "clone" })
    .map((actions): Action => ({ kind: "clone", actions })),
})).one;

/** A list of actions; conjunctions come with notes only. */
export const actionList: fc.Arbitrary<readonly Action[]> = fc.oneof(
  { weight: 9, arbitrary: fc.array(action, { minLength: 1, maxLength: 5 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(u(32), fc.integer({ min: 2, max: 64 }), u(8), noteBytes).map(([id, nClauses, n, data]) => [
      { kind: "conjunction" as const, id, clause: (n % nClauses) + 1, nClauses },
      { kind: "note" as const, data },
    ]),
  },
);

/** Actions for an action set that no match makes inconsistent. */
const setList = fc.array(
  fc.oneof(
    ...["output", "group", "set_queue", "resubmit_plain", "load_reg"].map((name) =>
      name === "resubmit_plain"
        ? act(fc.tuple(port, u(8)).map(([inPort, table]) => ({ kind: "resubmit", inPort, table })))
        : name === "load_reg"
          ? loadOf(anyBits(writable.filter((f) => /^x*reg/.test(f.name))))
          : (actionKinds[name] as fc.Arbitrary<Action>),
    ),
  ),
  { maxLength: 4 },
);

/** Instructions in their order, at least one, that suit any match and table 0. */
export const instructionList: fc.Arbitrary<readonly Instruction[]> = fc
  .record(
    {
      meter: fc.integer({ min: 1, max: 0xffff0000 }).map((meterId): Instruction => ({ kind: "meter", meterId })),
      apply: setList.map((actions): Instruction => ({ kind: "apply_actions", actions })),
      clear: fc.constant<Instruction>({ kind: "clear_actions" }),
      write: setList.map((actions): Instruction => ({ kind: "write_actions", actions })),
      metadata: fc
        .tuple(big(64), big(64))
        .map(([metadata, mask]): Instruction => ({ kind: "write_metadata", metadata, mask })),
      goto: fc.integer({ min: 1, max: 255 }).map((tableId): Instruction => ({ kind: "goto_table", tableId })),
    },
    { requiredKeys: [] },
  )
  .map((v) => [v.meter, v.apply, v.clear, v.write, v.metadata, v.goto].filter((i) => i !== undefined))
  .filter((list) => list.length > 0);
