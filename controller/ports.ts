import type { ResolvedPort, Segment } from "../pipeline/model.ts";

/** A port as OFPMP_PORT_DESC and OFPT_PORT_STATUS describe it (OF1.3.5 §7.2.1). */
export interface SwitchPort {
  readonly portNo: number;
  /** MAC as a number. */
  readonly hwAddr: number;
  readonly name: string;
  readonly config: number;
  readonly state: number;
}

/** Highest number of a real port; above are reserved ones such as LOCAL. */
const OFPP_MAX = 0xffff_ff00;
const OFPPC_PORT_DOWN = 1;
const OFPPS_LINK_DOWN = 1;

export const isUp = (p: SwitchPort): boolean => (p.config & OFPPC_PORT_DOWN) === 0 && (p.state & OFPPS_LINK_DOWN) === 0;

/** `*` and `?` as in a shell. */
function globToRegExp(glob: string): RegExp {
  const body = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");
  return new RegExp(`^${body}$`, "su");
}

const isGlob = (name: string): boolean => /[*?]/.test(name);

export interface Attachment {
  readonly attached: readonly ResolvedPort[];
  /** Real ports of the bridge that no segment claims: nothing is forwarded for them. */
  readonly unattached: readonly SwitchPort[];
}

/** Which segment each port of the bridge belongs to. A name written out wins over a glob, an earlier segment over a later. */
export function attach(segments: readonly Segment[], ports: Iterable<SwitchPort>): Attachment {
  const literal = new Map<string, readonly [Segment, number]>();
  const globs: { pattern: RegExp; segment: Segment; index: number }[] = [];
  for (const segment of segments) {
    segment.ports.forEach((ref, index) => {
      if (isGlob(ref.name)) globs.push({ pattern: globToRegExp(ref.name), segment, index });
      else if (!literal.has(ref.name)) literal.set(ref.name, [segment, index]);
    });
  }
  const attached: ResolvedPort[] = [];
  const unattached: SwitchPort[] = [];
  for (const port of ports) {
    if (port.portNo > OFPP_MAX) continue;
    const glob = globs.find((g) => g.pattern.test(port.name));
    const found = literal.get(port.name) ?? (glob && ([glob.segment, glob.index] as const));
    const ref = found?.[0].ports[found[1]];
    if (!found || !ref) {
      unattached.push(port);
      continue;
    }
    attached.push({
      name: port.name,
      ofport: port.portNo,
      segment: found[0].id,
      role: ref.role,
      mac: port.hwAddr,
      up: isUp(port),
      ...(ref.mac === undefined ? {} : { hostMac: ref.mac }),
    });
  }
  attached.sort((a, b) => a.ofport - b.ofport);
  return { attached, unattached };
}
