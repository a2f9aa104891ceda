import type { Action } from "../../openflow/action-values.ts";
import { load, output, setField } from "../../openflow/build.ts";
import { contains } from "../addresses.ts";
import { type FlowSpec, flowBuilder } from "../flow.ts";
import { ipText, macText } from "../format.ts";
import { ip, type MatchRecord } from "../match.ts";
import type { DesiredState, Ipv4, Mac, ResolvedPort } from "../model.ts";
import { IN_PORT } from "../ports.ts";
import { punt } from "../punt.ts";
import { regSegment } from "../registers.ts";
import { T } from "../tables.ts";
import type { Feature } from "./feature.ts";

const flow = flowBuilder("adjacency");

/** Priority of a next hop that is the destination itself; learned clients are below, at 90. */
export const DIRECT = 100;
/** Priority of a next hop that a static route names. */
export const ROUTED = 110;

/** A next hop whose MAC is known, with the port it is behind; without one, the segment's FDB knows. */
interface Entry {
  readonly segment: number;
  readonly ip: Ipv4;
  readonly mac: Mac;
  readonly port: ResolvedPort | undefined;
  readonly permanent: boolean;
}

/** Operators' entries come first: they hide what was resolved for the same address. */
const entries = (s: DesiredState): readonly Entry[] => {
  const ports = s.ports.filter((p) => p.up);
  const byName = new Map(ports.map((p) => [p.name, p]));
  const byNumber = new Map(ports.map((p) => [p.ofport, p]));
  const found = new Map<string, Entry>();
  for (const n of s.staticNeighbours) {
    const port = n.port === undefined ? undefined : byName.get(n.port);
    if (n.port !== undefined && port?.segment !== n.segment) continue;
    found.set(`${n.segment}/${n.ip}`, { ...n, port, permanent: true });
  }
  for (const n of s.neighbours) {
    const port = byNumber.get(n.ofport);
    if (port?.segment !== n.segment || found.has(`${n.segment}/${n.ip}`)) continue;
    found.set(`${n.segment}/${n.ip}`, { ...n, port, permanent: false });
  }
  return [...found.values()];
};

/**
 * A packet may have to leave by the port it came in by when several machines are behind that port. `output` to the
 * ingress port is skipped (OF1.3.5 §5.10), so these ports get a flow of their own.
 */
const sharedPorts = (s: DesiredState, all: readonly Entry[]): ReadonlySet<number> => {
  const publicSegments = new Set(s.segments.filter((x) => x.kind === "public").map((x) => x.id));
  const count = new Map<number, number>();
  for (const { port } of all) if (port !== undefined) count.set(port.ofport, (count.get(port.ofport) ?? 0) + 1);
  const shared = s.ports.filter(
    (p) =>
      p.hostMac === undefined &&
      (p.role === "uplink" || publicSegments.has(p.segment) || (count.get(p.ofport) ?? 0) > 1),
  );
  return new Set(shared.map((p) => p.ofport));
};

const deliver = (entry: Entry): { readonly actions: readonly Action[]; readonly goto?: number } => {
  const toMac = setField("eth_dst", entry.mac);
  return entry.port === undefined
    ? { actions: [toMac, load(entry.segment, regSegment)], goto: T.fdb }
    : { actions: [toMac, output(entry.port.ofport)] };
};

function* entryFlows(entry: Entry, priority: number, match: MatchRecord, shared: boolean): Generator<FlowSpec> {
  const source = entry.permanent ? "given" : "resolved";
  const where = entry.port === undefined ? "where its segment learned it" : `port ${entry.port.name}`;
  const common = {
    table: T.adjacency,
    object: { kind: "address", id: entry.ip },
    why: `Next hop ${ipText(entry.ip)} is ${macText(entry.mac)} (${source}), ${where}.`,
  } as const;
  yield flow({ ...common, priority, match, ...deliver(entry) });
  if (shared && entry.port !== undefined) {
    yield flow({
      ...common,
      priority: priority + 1,
      match: { ...match, in_port: entry.port.ofport },
      actions: [setField("eth_dst", entry.mac), output(IN_PORT)],
      why: `Next hop ${ipText(entry.ip)} is behind the port the packet came from: back out of it.`,
    });
  }
}

/** Table 21: MAC and port of the next hop. */
export const adjacency: Feature = {
  name: "adjacency",
  *flows(s) {
    const all = entries(s);
    const shared = sharedPorts(s, all);
    const routers = new Set(s.routes.map((r) => `${r.segment}/${r.via}`));
    const subnets = new Map(s.segments.map((segment) => [segment.id, segment.subnet]));
    for (const entry of all) {
      const subnet = subnets.get(entry.segment);
      if (subnet === undefined || !contains(subnet, entry.ip)) continue;
      const back = entry.port !== undefined && shared.has(entry.port.ofport);
      yield* entryFlows(entry, DIRECT, { ...ip, ip_dst: entry.ip }, back);
      if (routers.has(`${entry.segment}/${entry.ip}`)) {
        yield* entryFlows(entry, ROUTED, { ...ip, reg5: entry.ip }, back);
      }
    }
    yield flow({
      table: T.adjacency,
      priority: 0,
      actions: [punt("miss")],
      why: "The next hop's MAC is not known: the resolver asks for it and sends the packet on.",
    });
  },
};
