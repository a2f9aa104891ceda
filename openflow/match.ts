import { Parser } from "binary-parser";
import { DecodeError, EncodeError } from "./errors.ts";
import { type FieldDef, fieldByName } from "./fields.ts";
import { fenceOxms, type Oxm, type OxmField, readOxm, writeOxm, writeOxmAs } from "./oxm.ts";
import { type Codec, need, type Raw, rest, takeBuffer, type Writer } from "./schema/codec.ts";
import { readStandardMatch, STANDARD_SIZE } from "./standard-match.ts";

export type { OxmField, RawOxm } from "./oxm.ts";

/**
 * Fields in the order of the wire. `in_port` is OpenFlow 1.3's 32-bit port number (OXM_OF_IN_PORT) whatever code
 * point it was read from; other fields have the names of ovs-fields(7).
 */
export type Match = readonly Oxm[];

const inPort = fieldByName("in_port_oxm") as FieldDef;

/** The port numbers that OpenFlow 1.0 begins to reserve, and where OpenFlow 1.1 moved them to. */
const RESERVED_10 = 0xff00;
const MOVED = 0xffff_0000;

function writeMatchField(w: Writer, f: Oxm): void {
  if (f.field === "in_port") writeOxmAs(w, f as OxmField, inPort, "oxm");
  else writeOxm(w, f);
}

/** NXM's 16-bit port number as OpenFlow 1.1 and later number ports. */
const widened = (port: number): number => (port < RESERVED_10 ? port : port + MOVED);

/** `in_port` as matches have it. A mask is all ones, or (in a match that will be refused) something else. */
function portField(f: OxmField): OxmField {
  const wide = f.field === "in_port_oxm";
  const value = wide ? f.value : widened(f.value as number);
  if (f.mask === undefined) return { field: "in_port", value };
  return { field: "in_port", value, mask: wide ? f.mask : widened(f.mask as number) };
}

function readFields(b: Buffer, at: number, end: number): Oxm[] {
  const out: Oxm[] = [];
  for (let here = at; here < end; here += 4 + (b[here + 3] as number)) {
    const f = readOxm(b, here);
    out.push(f.field === "in_port_oxm" || f.field === "in_port" ? portField(f as OxmField) : f);
  }
  return out;
}

/** The fields of a match without header or padding, up to the end of the enclosing thing (flow monitors, packet_in2). */
export const matchFields: Codec<Match> = rest({
  write: (w, fields) => {
    for (const f of fields) writeMatchField(w, f);
  },
  read: (b) => readFields(b, 0, b.length),
  check: (b, at, end) => {
    fenceOxms(b, at, end);
  },
});

const header = 4;
/** Match types (OF1.3.5 §7.2.3.1, `enum ofp_match_type`). */
const STANDARD = 0;
const OXM = 1;

/** `struct ofp_match` with OXM TLVs (OF1.3.5 §7.2.3.1), padded to 8 bytes. */
export const match: Codec<Match> = {
  size: 8,
  fixed: false,
  write: (w, fields) => {
    const start = w.writeOffset;
    w.writeUInt32BE(0x0001_0000);
    for (const f of fields) writeMatchField(w, f);
    const length = w.writeOffset - start;
    if (length > 0xffff) throw new EncodeError(`a match of ${length} bytes does not fit a 16-bit length`);
    w.writeUInt16BE(length, start + 2);
    for (let i = length; i % 8 !== 0; i++) w.writeUInt8(0);
  },
  parser: (p, name) => {
    const inner = new Parser().uint16be("t").uint16be("n");
    takeBuffer(inner, "a", { eof: false, bytes: (self) => (self["n"] as number) - header });
    inner.seek(function (this: Raw) {
      return (8 - ((this["n"] as number) % 8)) % 8;
    });
    p.nest(name, { type: inner });
  },
  lift: (raw) => {
    const { t, a } = raw as { t: number; a: Buffer };
    // The fence has read it before, to prove that it can be read.
    return t === STANDARD ? readStandardMatch(a, header) : readFields(a, 0, a.length);
  },
  fence: (b, at, end) => {
    need(at, header, end);
    const type = b.readUInt16BE(at);
    const length = b.readUInt16BE(at + 2);
    const stop = Math.ceil(length / 8) * 8;
    if (type === STANDARD) {
      if (length !== STANDARD_SIZE) throw new DecodeError("OFPBMC_BAD_LEN", at, `match length ${length}`);
      need(at, stop, end, "OFPBMC_BAD_LEN");
      readStandardMatch(b.subarray(at + header, at + stop), header);
      return at + stop;
    }
    if (type !== OXM) throw new DecodeError("OFPBMC_BAD_TYPE", at, `unknown match type ${type}`);
    if (length < header) throw new DecodeError("OFPBMC_BAD_LEN", at, `match length ${length}`);
    need(at, stop, end, "OFPBMC_BAD_LEN");
    fenceOxms(b, at + header, at + length);
    return at + stop;
  },
};
