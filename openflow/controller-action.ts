/** Packets to controllers (ovs-actions(7), "The controller action"): NXAST_CONTROLLER and NXAST_CONTROLLER2. */
import type { Controller } from "./action-values-nx.ts";
import { action, type Body, customAction, nx } from "./action-variant.ts";
import { DecodeError } from "./errors.ts";
import { pad, u8, u16, type Writer } from "./schema/codec.ts";
import { mustBeZero } from "./subfield.ts";

/** OFPR_* numbers as words (OF1.3.5 §7.4.1 and 1.4). */
export const packetInReasons = ["no_match", "action", "invalid_ttl", "action_set", "group", "packet_out"] as const;

const ACTION = 1;
const WHOLE_PACKET = 0xffff;
/** Reasons that Open vSwitch keeps for itself and has no word for. */
const INTERNAL = [6, 7];

const reasonText = (n: number): string => (INTERNAL.includes(n) ? "" : (packetInReasons[n] ?? String(n)));

function text(v: Body<"controller">): string {
  const args: string[] = [];
  if (v.reason !== ACTION) args.push(`reason=${reasonText(v.reason)}`);
  const plain = args.length === 0 && v.controllerId === 0 && !v.userdata && !v.pause && v.meterId === undefined;
  if (plain) return `CONTROLLER:${v.maxLen}`;
  if (v.maxLen !== WHOLE_PACKET) args.push(`max_len=${v.maxLen}`);
  if (v.controllerId !== 0) args.push(`id=${v.controllerId}`);
  if (v.userdata) args.push(`userdata=${(v.userdata.toString("hex").match(/../g) ?? []).join(".")}`);
  if (v.pause) args.push("pause");
  if (v.meterId !== undefined) args.push(`meter_id=${v.meterId}`);
  return `controller(${args.join(",")})`;
}

/** Property types of NXAST_CONTROLLER2. */
const Prop = { maxLen: 0, controllerId: 1, reason: 2, userdata: 3, pause: 4, meterId: 5 } as const;

/** Bytes of a property's payload: at least, at most. */
const sizes: readonly (readonly [number, number])[] = [
  [2, 4],
  [2, 4],
  [1, 4],
  [0, 0xffff],
  [0, 0xffff],
  [4, 4],
];

/** Calls back for each property; lengths leave the padding to 8 bytes out. */
function eachProperty(
  b: Buffer,
  from: number,
  end: number,
  property: (type: number, at: number, length: number) => void,
): void {
  for (let at = from; at < end; ) {
    const length = end - at >= 4 ? b.readUInt16BE(at + 2) : 0;
    const stop = at + Math.ceil(length / 8) * 8;
    if (length < 4 || stop > end) throw new DecodeError("OFPBPC_BAD_LEN", at, `property length ${length}`);
    property(b.readUInt16BE(at), at + 4, length - 4);
    at = stop;
  }
}

function write(w: Writer, v: Body<"controller">): void {
  w.writeUInt16BE(0);
  w.writeUInt32BE(0);
  const short = (type: number, n: number): void => {
    w.writeUInt16BE(type);
    w.writeUInt16BE(8);
    w.writeUInt16BE(n);
    w.writeUInt16BE(0);
  };
  if (v.maxLen !== WHOLE_PACKET) short(Prop.maxLen, v.maxLen);
  if (v.controllerId !== 0) short(Prop.controllerId, v.controllerId);
  if (v.reason !== ACTION) {
    w.writeUInt16BE(Prop.reason);
    w.writeUInt16BE(5);
    w.writeUInt8(v.reason);
    w.writeUInt8(0);
    w.writeUInt16BE(0);
  }
  if (v.userdata) {
    w.writeUInt16BE(Prop.userdata);
    w.writeUInt16BE(4 + v.userdata.length);
    w.writeBuffer(v.userdata);
    for (let i = 4 + v.userdata.length; i % 8 !== 0; i++) w.writeUInt8(0);
  }
  if (v.pause) {
    w.writeUInt16BE(Prop.pause);
    w.writeUInt16BE(4);
    w.writeUInt32BE(0);
  }
  if (v.meterId !== undefined) {
    w.writeUInt16BE(Prop.meterId);
    w.writeUInt16BE(8);
    w.writeUInt32BE(v.meterId);
  }
}

/** `meter_id` that means no meter. */
const NO_METER = 0xffffffff;

function read(b: Buffer, from: number, end: number): Controller {
  let maxLen = WHOLE_PACKET;
  let controllerId = 0;
  let reason: number = ACTION;
  let userdata: Buffer | undefined;
  let pause = false;
  let meterId: number | undefined;
  eachProperty(b, from + 6, end, (type, at, length) => {
    if (type === Prop.maxLen) maxLen = b.readUInt16BE(at);
    else if (type === Prop.controllerId) controllerId = b.readUInt16BE(at);
    else if (type === Prop.reason) reason = b.readUInt8(at);
    else if (type === Prop.userdata) userdata = length > 0 ? b.subarray(at, at + length) : undefined;
    else if (type === Prop.pause) pause = true;
    else meterId = b.readUInt32BE(at) === NO_METER ? undefined : b.readUInt32BE(at);
  });
  return {
    kind: "controller",
    maxLen,
    controllerId,
    reason,
    ...(userdata ? { userdata } : {}),
    ...(pause ? { pause } : {}),
    ...(meterId === undefined ? {} : { meterId }),
    ...(userdata || pause || meterId !== undefined ? {} : { properties: true }),
  };
}

const needsProperties = (v: Body<"controller">): boolean =>
  v.userdata !== undefined || v.pause === true || v.meterId !== undefined || v.properties === true;

export const controllerVariants = [
  customAction(nx(37), "controller", {
    min: 6,
    write,
    read,
    check: (b, at, end) => {
      mustBeZero(b, at, at + 6);
      eachProperty(b, at + 6, end, (type, from, length) => {
        const size = sizes[type];
        if (!size) throw new DecodeError("OFPBPC_BAD_TYPE", from, `property ${type} is not known`);
        if (length < size[0] || length > size[1]) {
          throw new DecodeError("OFPBPC_BAD_LEN", from, `property ${type} of ${length} bytes`);
        }
      });
    },
    text,
    when: needsProperties,
  }),
  action(nx(20), "controller", { maxLen: u16, controllerId: u16, reason: u8, _: pad(1) }, text),
] as const;
