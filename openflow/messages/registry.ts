import {
  type AnyMessageDef,
  EXPERIMENTER_MESSAGE,
  HEADER_SIZE,
  MULTIPART_EXPERIMENTER,
  MULTIPART_REPLY,
  MULTIPART_REQUEST,
} from "./define.ts";

/** Finds message definitions by the bytes or by the value's `type`. */
export interface Registry {
  /** The kind of the message that begins at `at`; absent when no definition has it. */
  find(b: Buffer, at: number, end: number): AnyMessageDef | undefined;
  readonly byName: ReadonlyMap<string, AnyMessageDef>;
}

const MULTIPART_HEADER = 8;
const EXPERIMENTER_HEADER = 8;

/** Experimenter ids have 32 bits and the subtypes in use 16, so that both fit one exact number. */
const keyOf = (experimenter: number, subtype: number): number => experimenter * 0x10000 + subtype;

export function registryOf(defs: readonly AnyMessageDef[]): Registry {
  const byName = new Map<string, AnyMessageDef>();
  // Index: OFPT number, or for multipart messages 256 + 256·(is a reply) + OFPMP number.
  const standard: (AnyMessageDef | undefined)[] = Array.from({ length: 768 }, () => undefined);
  const experimental = new Map<number, Map<number, AnyMessageDef>>();
  const other = new Map<number, AnyMessageDef>();
  for (const def of defs) {
    if (byName.has(def.name)) throw new Error(`two messages called ${def.name}`);
    byName.set(def.name, def);
    if (def.experimenter !== undefined && def.subtype !== undefined) {
      const ofKind = experimental.get(def.ofType) ?? new Map<number, AnyMessageDef>();
      ofKind.set(keyOf(def.experimenter, def.subtype), def);
      experimental.set(def.ofType, ofKind);
    } else if (def.multipart === MULTIPART_EXPERIMENTER || def.ofType === EXPERIMENTER_MESSAGE) {
      other.set(def.ofType, def);
    } else if (def.multipart !== undefined) standard[(def.ofType - 17) * 256 + def.multipart] = def;
    else standard[def.ofType] = def;
  }

  const experimenter = (ofType: number, b: Buffer, at: number, end: number): AnyMessageDef | undefined => {
    if (at + EXPERIMENTER_HEADER > end) return other.get(ofType);
    const subtype = b.readUInt32BE(at + 4);
    const def = subtype > 0xffff ? undefined : experimental.get(ofType)?.get(keyOf(b.readUInt32BE(at), subtype));
    return def ?? other.get(ofType);
  };

  return {
    byName,
    find: (b, at, end) => {
      const ofType = b[at + 1] as number;
      const body = at + HEADER_SIZE;
      if (ofType === EXPERIMENTER_MESSAGE) return experimenter(ofType, b, body, end);
      if (ofType !== MULTIPART_REQUEST && ofType !== MULTIPART_REPLY) return standard[ofType];
      if (body + MULTIPART_HEADER > end) return undefined;
      const type = b.readUInt16BE(body);
      if (type === MULTIPART_EXPERIMENTER) return experimenter(ofType, b, body + MULTIPART_HEADER, end);
      return type < 256 ? standard[(ofType - 17) * 256 + type] : undefined;
    },
  };
}
