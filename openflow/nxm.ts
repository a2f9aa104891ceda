/**
 * Nicira's match format, which OpenFlow 1.0 with extensions and NXM flow monitors carry: bare TLVs with 16-bit port
 * numbers, VLAN and ToS as one field each, and the flow cookie as a pseudo field.
 */
import { canonicalMatch } from "./canonical.ts";
import { checkMatch } from "./check-match.ts";
import { DecodeError } from "./errors.ts";
import { type FieldDef, fieldByName } from "./fields.ts";
import type { Match } from "./match.ts";
import { type Oxm, type OxmField, type RawOxm, writeOxm, writeOxmAs } from "./oxm.ts";
import type { Writer } from "./schema/codec.ts";

/** NXM_NX_COOKIE and NXM_NX_COOKIE_W. */
const COOKIE = 0x0001_3c08;
const COOKIE_MASKED = 0x0001_3d10;

const isCookie = (f: Oxm): f is RawOxm => f.field === "raw" && [COOKIE, COOKIE_MASKED].includes((f as RawOxm).header);

/** Which flows a request is about, by cookie. */
interface Cookie {
  readonly value: bigint;
  readonly mask: bigint;
}

function cookieOf({ header, body }: RawOxm): Cookie {
  const value = body.readBigUInt64BE(0);
  return { value, mask: header === COOKIE ? 0xffff_ffff_ffff_ffffn : body.readBigUInt64BE(8) };
}

/** As {@link checkMatch}, for NXM: a cookie may stand once. */
export function checkNxm(match: Match, options: { readonly loose?: boolean } = {}): DecodeError | undefined {
  const rest = match.filter((f) => !isCookie(f));
  let seen = 0n;
  for (const f of match.filter(isCookie)) {
    const { value, mask } = cookieOf(f);
    if ((value & ~mask) !== 0n) return new DecodeError("OFPBMC_BAD_WILDCARDS", 0, "cookie bits outside the mask");
    if (seen !== 0n) return new DecodeError("OFPBMC_DUP_FIELD", 0, "a second cookie");
    seen = mask;
  }
  return checkMatch(rest, options);
}

/** Writes the canonical form of a match as NXM, the cookie last. */
export function writeNxm(w: Writer, match: Match): void {
  for (const f of canonicalMatch(match, "nxm")) {
    if (f.field === "raw") {
      if (isCookie(f)) writeCookie(w, cookieOf(f));
      else writeOxm(w, f);
    } else {
      const known = f as OxmField;
      const value = known.field === "in_port" ? Number(known.value) & 0xffff : known.value;
      writeOxmAs(w, { ...known, value }, fieldByName(known.field) as FieldDef, "nxm");
    }
  }
}

function writeCookie(w: Writer, { value, mask }: Cookie): void {
  if (mask === 0n) return;
  const exact = mask === 0xffff_ffff_ffff_ffffn;
  w.writeUInt32BE(exact ? COOKIE : COOKIE_MASKED);
  w.writeBigUInt64BE(value);
  if (!exact) w.writeBigUInt64BE(mask);
}
