import type { Message } from "../../openflow/messages/all.ts";

/** Wire version of OpenFlow 1.3. */
export const OFP_VERSION = 4;

const NAMES: Readonly<Record<number, string>> = { 1: "1.0", 2: "1.1", 3: "1.2", 4: "1.3", 5: "1.4", 6: "1.5" };

/** Our HELLO: OpenFlow 1.3 and nothing else, said by version bitmap too (OF1.3.5 §7.5.1). */
export const ourHello = (xid: number): Message => ({
  type: "hello",
  xid,
  elements: [{ kind: "versionbitmap", bitmaps: [1 << OFP_VERSION] }],
});

/** What came of a peer's HELLO. `reason` is ASCII, meant for the peer and for the log. */
export type Agreement = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Decides from the raw bytes of a HELLO of any version whether the peer can speak 1.3 (OF1.3.5 §6.3.1): by its version
 * bitmap when it sends one, else by the header, whose version is then the highest it knows. Elements of other types
 * are skipped by their length, whatever it is; what cannot be read counts as absent.
 */
export function negotiate(hello: Buffer): Agreement {
  const highest = hello[0] as number;
  const bitmap = versionBitmap(hello);
  const offered = bitmap ?? (highest === 0 ? [] : Array.from({ length: highest }, (_, i) => i + 1));
  if (offered.includes(OFP_VERSION)) return { ok: true };
  const names = bitmap ? offered.map((v) => NAMES[v] ?? `0x${v.toString(16)}`) : [`up to ${NAMES[highest] ?? highest}`];
  return { ok: false, reason: `only OpenFlow 1.3 is spoken here; the switch offers ${names.join(", ") || "none"}` };
}

function versionBitmap(hello: Buffer): number[] | undefined {
  let at = 8;
  while (at + 4 <= hello.length) {
    const type = hello.readUInt16BE(at);
    const length = hello.readUInt16BE(at + 2);
    if (length < 4 || at + length > hello.length) return undefined;
    if (type === 1) {
      const versions: number[] = [];
      for (let word = 0; at + 4 + word * 4 + 4 <= at + length; word++) {
        const bits = hello.readUInt32BE(at + 4 + word * 4);
        for (let i = 0; i < 32; i++) if ((bits >>> i) & 1) versions.push(word * 32 + i);
      }
      return versions;
    }
    at += Math.ceil(length / 8) * 8;
  }
  return undefined;
}
