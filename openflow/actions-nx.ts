/** Open vSwitch's smaller actions (ovs-actions(7)): those that fit a plain layout. */
import type { Action, Plain } from "./action-values.ts";
import type { Sample } from "./action-values-nx.ts";
import { action, type Body, customAction, mapped, nx } from "./action-variant.ts";
import { DecodeError, EncodeError } from "./errors.ts";
import { modern } from "./legacy.ts";
import { type Codec, pad, u16, u32, u64, type Writer } from "./schema/codec.ts";
import { mustBeZero } from "./subfield.ts";
import { narrowPort, widenPort } from "./text/output.ts";
import { formatPort } from "./text/ports.ts";

const IN_PORT = 0xfffffff8;
const CURRENT_TABLE = 0xff;

function narrow(port: number): number {
  const n = narrowPort(port);
  if (n === undefined) throw new EncodeError(`port ${port} has no 16-bit number`);
  return n;
}

/** A port that travels in 16 bits and shows as OpenFlow 1.3's 32-bit number. */
export const shortPort: Codec<number> = mapped(u16, narrow, widenPort);

const plain = <K extends Plain["kind"]>(subtype: number, kind: K) =>
  action(nx(subtype), kind, { _: pad(6) } as never, () => kind);

const resubmitText = (v: Body<"resubmit">): string => {
  if (v.inPort !== IN_PORT && v.table === CURRENT_TABLE) return `resubmit:${formatPort(v.inPort)}`;
  const port = v.inPort === IN_PORT ? "" : formatPort(v.inPort);
  const table = v.table === CURRENT_TABLE ? "" : v.table;
  return `resubmit(${port},${table}${v.ct ? ",ct" : ""})`;
};

type Form = { readonly ct?: true; readonly portOnly?: true };

/** The three forms of resubmit differ in what they can say, not in their layout. */
const resubmit = (subtype: number, form: Form, when: (v: Body<"resubmit">) => boolean) =>
  customAction(nx(subtype), "resubmit", {
    min: 6,
    max: 6,
    write: (w, v) => {
      w.writeUInt16BE(narrow(v.inPort));
      w.writeUInt8(form.portOnly ? 0 : v.table);
      w.writeUInt8(0);
      w.writeUInt16BE(0);
    },
    read: (b, at) => ({
      kind: "resubmit",
      inPort: widenPort(b.readUInt16BE(at)),
      table: form.portOnly ? CURRENT_TABLE : b.readUInt8(at + 2),
      ...form,
    }),
    check: (b, at, end) => {
      if (!form.portOnly) mustBeZero(b, at + 3, end, "OFPBAC_BAD_ARGUMENT");
    },
    text: resubmitText,
    when,
  });

const hex = (n: number | bigint): string => (BigInt(n) === 0n ? "0" : `0x${n.toString(16)}`);
const dotted = (b: Buffer): string => (b.toString("hex").match(/../g) ?? []).join(".");

const sampleText = (v: Body<"sample">): string => {
  const ids = `collector_set_id=${v.collectorSetId},obs_domain_id=${v.obsDomainId},obs_point_id=${v.obsPointId}`;
  const port = v.samplingPort === undefined || v.samplingPort === NO_PORT ? "" : formatPort(v.samplingPort);
  const direction = v.direction === undefined || v.direction === "default" ? "" : `,${v.direction}`;
  return `sample(probability=${v.probability},${ids}${port && `,sampling_port=${port}`}${direction})`;
};
const NO_PORT = 0xffffffff;
const directions = ["default", "ingress", "egress"] as const;

const writeSample = (w: Writer, v: Body<"sample">): void => {
  w.writeUInt16BE(v.probability);
  for (const n of [v.collectorSetId, v.obsDomainId, v.obsPointId]) w.writeUInt32BE(n);
};
const readSample = (b: Buffer, at: number): Sample => ({
  kind: "sample",
  probability: b.readUInt16BE(at),
  collectorSetId: b.readUInt32BE(at + 2),
  obsDomainId: b.readUInt32BE(at + 6),
  obsPointId: b.readUInt32BE(at + 10),
});
const checkProbability = (b: Buffer, at: number): void => {
  if (b.readUInt16BE(at) === 0) throw new DecodeError("OFPBAC_BAD_ARGUMENT", at, "a probability of 0");
};

const samples = [
  customAction(nx(29), "sample", {
    min: 14,
    max: 14,
    write: writeSample,
    read: readSample,
    check: checkProbability,
    text: sampleText,
    when: (v) => v.samplingPort === undefined && v.direction === undefined,
  }),
  customAction(nx(38), "sample", {
    min: 22,
    max: 22,
    write: (w, v) => {
      writeSample(w, v);
      w.writeUInt16BE(narrow(v.samplingPort ?? NO_PORT));
      w.writeUInt16BE(0);
      w.writeUInt32BE(0);
    },
    read: (b, at) => ({ ...readSample(b, at), samplingPort: widenPort(b.readUInt16BE(at + 14)) }),
    check: checkProbability,
    text: sampleText,
    when: (v) => v.direction === undefined,
  }),
  customAction(nx(41), "sample", {
    min: 22,
    max: 22,
    write: (w, v) => {
      writeSample(w, v);
      w.writeUInt16BE(narrow(v.samplingPort ?? NO_PORT));
      w.writeUInt8(directions.indexOf(v.direction ?? "default"));
      w.writeUInt8(0);
      w.writeUInt32BE(0);
    },
    read: (b, at) => ({
      ...readSample(b, at),
      samplingPort: widenPort(b.readUInt16BE(at + 14)),
      direction: directions[b.readUInt8(at + 16)] ?? "default",
    }),
    check: (b, at, end) => {
      mustBeZero(b, at + 17, end);
      if (b.readUInt8(at + 16) >= directions.length) {
        throw new DecodeError("OFPBAC_BAD_ARGUMENT", at + 16, "no such sampling direction");
      }
      checkProbability(b, at);
    },
    text: sampleText,
  }),
] as const;

const note = customAction(nx(8), "note", {
  min: 6,
  write: (w, v) => {
    w.writeBuffer(v.data);
    for (let i = v.data.length; i < 6; i++) w.writeUInt8(0);
  },
  read: (b, at, end) => ({ kind: "note", data: b.subarray(at, end) }),
  check: () => undefined,
  text: (v) => `note:${dotted(v.data)}`,
});

const decTtlIds = customAction(nx(21), "dec_ttl", {
  min: 6,
  write: (w, v) => {
    const ids = v.ids ?? [0];
    w.writeUInt16BE(ids.length);
    w.writeUInt32BE(0);
    for (const id of ids) w.writeUInt16BE(id);
  },
  read: (b, at) => ({
    kind: "dec_ttl",
    ids: Array.from({ length: b.readUInt16BE(at) }, (_, i) => b.readUInt16BE(at + 6 + 2 * i)),
  }),
  check: (b, at, end) => {
    mustBeZero(b, at + 2, at + 6);
    if (at + 6 + 2 * b.readUInt16BE(at) > end) throw new DecodeError("OFPBAC_BAD_LEN", at, "no room for the ids");
  },
  text: (v) => (v.ids ? `dec_ttl(${v.ids.join(",")})` : "dec_ttl"),
  when: (v) => v.ids !== undefined,
});

const writtenAs = (v: object): Action => modern(v as Action);

export const nxVariants = [
  resubmit(44, { ct: true }, (v) => v.ct === true),
  resubmit(1, { portOnly: true }, (v) => v.portOnly === true),
  resubmit(14, {}, () => true),
  action(nx(2), "set_tunnel", { _: pad(2), id: u32 }, (v) => `set_tunnel:${hex(v.id)}`, { writtenAs }),
  action(nx(9), "set_tunnel64", { _: pad(6), id: u64 }, (v) => `set_tunnel64:${hex(v.id)}`, { writtenAs }),
  plain(5, "pop_queue"),
  plain(17, "exit"),
  plain(43, "ct_clear"),
  plain(48, "dec_nsh_ttl"),
  note,
  decTtlIds,
  action(24, "dec_ttl", { _: pad(4) }, () => "dec_ttl"),
  action(nx(19), "fin_timeout", { idleTimeout: u16, hardTimeout: u16, _: pad(2) }, (v) => {
    const args = [v.idleTimeout && `idle_timeout=${v.idleTimeout}`, v.hardTimeout && `hard_timeout=${v.hardTimeout}`];
    return `fin_timeout(${args.filter(Boolean).join(",")})`;
  }),
  action(
    nx(22),
    "write_metadata",
    { _: pad(6), metadata: u64, mask: u64 },
    (v) => `write_metadata:${hex(v.metadata)}${v.mask === ALL_64 ? "" : `/${hex(v.mask)}`}`,
    { check: (b, at) => mustBeZero(b, at, at + 6) },
  ),
  customAction(nx(34), "conjunction", {
    min: 6,
    max: 6,
    write: (w, v) => {
      w.writeUInt8(v.clause - 1);
      w.writeUInt8(v.nClauses);
      w.writeUInt32BE(v.id);
    },
    read: (b, at) => ({
      kind: "conjunction",
      id: b.readUInt32BE(at + 2),
      clause: b.readUInt8(at) + 1,
      nClauses: b.readUInt8(at + 1),
    }),
    check: (b, at) => {
      const n = b.readUInt8(at + 1);
      if (n < 2 || n > 64 || b.readUInt8(at) >= n) {
        throw new DecodeError("NXBAC_BAD_CONJUNCTION", at, "a clause of 2 to 64 is wanted");
      }
    },
    text: (v) => `conjunction(${v.id},${v.clause}/${v.nClauses})`,
  }),
  ...samples,
  action(
    nx(39),
    "output_trunc",
    { port: shortPort, maxLen: u32 },
    (v) => `output(port=${formatPort(v.port)},max_len=${v.maxLen})`,
    {
      check: (b, at) => {
        if (b.readUInt32BE(at + 2) < ETHERNET_HEADER) {
          throw new DecodeError("OFPBAC_BAD_ARGUMENT", at, `at least ${ETHERNET_HEADER} bytes of a frame`);
        }
      },
    },
  ),
] as const;

const ALL_64 = 0xffff_ffff_ffff_ffffn;
const ETHERNET_HEADER = 14;
