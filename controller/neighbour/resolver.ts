import type { Logger } from "pino";
import { formatIpv4, formatMac } from "../../openflow/packet/address.ts";
import { buildArpRequest } from "../../openflow/packet/arp.ts";
import { nextHops } from "../../pipeline/addresses.ts";
import type { DesiredState, Neighbour, Segment, Topology } from "../../pipeline/model.ts";
import { type NudState, published } from "./machine.ts";
import { type NeighbourKey, NeighbourTable, type TableEffect } from "./table.ts";

export interface ResolverDeps {
  readonly log: Logger;
  /** Sends a frame to all ports of a segment. */
  readonly broadcast: (segment: number, frame: Buffer) => void;
  readonly unicast: (ofport: number, frame: Buffer) => void;
  /** Sends on a packet that waited. */
  readonly forward: (ofport: number, frame: Buffer) => void;
  /** What {@link NeighbourResolver.published} gives has changed. */
  readonly changed: () => void;
  readonly conflict: (segment: number, what: string) => void;
  /** Waiting packets were dropped. */
  readonly dropped: (count: number) => void;
  /** Number of the port with that name, while it exists. */
  readonly portNumber: (name: string) => number | undefined;
}

/** An entry as people see it. */
export interface ResolverView extends NeighbourKey {
  readonly state: NudState;
  readonly mac?: number;
  readonly ofport?: number;
  readonly msSinceConfirmed?: number;
  readonly queued: number;
}

/** What is known of a next hop. One whose MAC is given may be behind any port of its segment. */
export type Lookup =
  | { readonly kind: "known"; readonly mac: number; readonly ofport?: number }
  | { readonly kind: "asking" }
  | { readonly kind: "failed" };

/** Finds the MACs of next hops by ARP through the switch (RFC 826), with {@link NeighbourTable} deciding. */
export class NeighbourResolver {
  readonly #table = new NeighbourTable();
  #deps: ResolverDeps;
  #segments = new Map<number, Segment>();
  #inUse = new Map<string, NeighbourKey>();
  #given = new Map<string, NeighbourKey>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #reportedDrops = 0;

  constructor(deps: ResolverDeps) {
    this.#deps = deps;
  }

  /** Members, routers of static routes and given neighbours follow the topology. */
  setTopology(topology: Topology): void {
    this.#segments = new Map(topology.segments.map((s) => [s.id, s]));
    // First, so that one that is given is not asked for.
    this.#setGiven(topology);
    const wanted = new Map(nextHops(topology as DesiredState).map((k) => [`${k.segment} ${k.ip}`, k]));
    for (const [id, key] of this.#inUse) if (!wanted.has(id)) this.#event(key, { kind: "use", inUse: false });
    for (const [id, key] of wanted) if (!this.#inUse.has(id)) this.#event(key, { kind: "use", inUse: true });
    this.#inUse = wanted;
  }

  #setGiven(topology: Topology): void {
    const given = new Map(topology.staticNeighbours.map((n) => [`${n.segment} ${n.ip}`, n]));
    for (const n of given.values()) {
      const port = n.port === undefined ? undefined : this.#deps.portNumber(n.port);
      this.#event(n, { kind: "permanent", mac: n.mac, ...(port === undefined ? {} : { port }) });
    }
    for (const [id, key] of this.#given) if (!given.has(id)) this.#event(key, { kind: "unset" });
    this.#given = given;
  }

  /** What flows may use. */
  published(): readonly Neighbour[] {
    return this.#table.entries().flatMap(({ key, nud }) => {
      const known = published(nud);
      return known ? [{ segment: key.segment, ip: key.ip, mac: known.mac, ofport: known.port }] : [];
    });
  }

  /** Whether and how packets can be sent to a next hop. */
  lookup(key: NeighbourKey): Lookup {
    const nud = this.#table.get(key);
    const known = nud && published(nud);
    if (known) return { kind: "known", mac: known.mac, ofport: known.port };
    if (nud?.state === "permanent" && nud.mac !== undefined) return { kind: "known", mac: nud.mac };
    return { kind: nud?.state === "failed" ? "failed" : "asking" };
  }

  /**
   * What a switch that has just connected holds. Entries it has are taken over until they are confirmed; those it
   * lacks are asked for again, since hosts may have moved while it was away.
   */
  adopt(held: readonly Neighbour[]): void {
    const there = new Set(held.map((n) => `${n.segment} ${n.ip}`));
    for (const { key } of this.#table.entries()) {
      if (!there.has(`${key.segment} ${key.ip}`)) this.#event(key, { kind: "reset" });
    }
    for (const n of held) this.#event(n, { kind: "adopt", mac: n.mac, port: n.ofport });
  }

  /** Asks at once for every next hop that has no MAC: questions sent before the switch could flood them are lost. */
  askUnknown(): void {
    for (const { key, nud } of this.#table.entries()) if (!published(nud)) this.#event(key, { kind: "reset" });
  }

  /** An ARP packet from `ip`; `solicited` when it is a reply addressed to us. */
  heard(arp: NeighbourKey & { readonly mac: number; readonly ofport: number; readonly solicited: boolean }): void {
    this.#event(arp, { kind: arp.solicited ? "reply" : "hint", mac: arp.mac, port: arp.ofport });
  }

  /** A packet whose next hop has no known MAC. */
  wanted(packet: NeighbourKey & { readonly frame: Buffer }): void {
    const segment = this.#segments.get(packet.segment);
    if (!segment || this.#stopped) return;
    this.#run(
      this.#table.enqueue({ segment: packet.segment, ip: packet.ip }, packet.frame, performance.now(), Math.random()),
    );
  }

  portDown(ofport: number): void {
    for (const { key, nud } of this.#table.entries()) {
      if (nud.port === ofport) this.#event(key, { kind: "port_down", port: ofport });
    }
  }

  /** A host that was silent behind a port that was down is asked for again at once. */
  portUp(segment: number): void {
    for (const { key } of this.#table.entries()) if (key.segment === segment) this.#event(key, { kind: "port_up" });
  }

  views(): readonly ResolverView[] {
    const now = performance.now();
    return this.#table
      .entries()
      .map(({ key, nud, queued }) => ({
        ...key,
        state: nud.state,
        queued,
        ...(nud.mac === undefined ? {} : { mac: nud.mac }),
        ...(nud.port === undefined ? {} : { ofport: nud.port }),
        ...(nud.confirmedAt === undefined ? {} : { msSinceConfirmed: now - nud.confirmedAt }),
      }))
      .sort((a, b) => a.segment - b.segment || a.ip - b.ip);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #event({ segment, ip }: NeighbourKey, event: Parameters<NeighbourTable["handle"]>[1]): void {
    if (this.#stopped) return;
    this.#run(this.#table.handle({ segment, ip }, event, performance.now(), Math.random()));
  }

  #run(effects: readonly TableEffect[]): void {
    let changed = false;
    for (const e of effects) {
      switch (e.kind) {
        case "solicit":
          this.#solicit(e);
          break;
        case "published":
          changed = true;
          this.#logChange(e.key);
          break;
        case "send":
          for (const frame of e.frames) this.#forward(frame, e.mac, e.port);
          break;
        case "conflict": {
          const [a, b] = e.macs.map((m) => formatMac(m));
          this.#deps.conflict(
            e.key.segment,
            `${formatIpv4(e.key.ip)} is claimed by ${a} and ${b}; the first is believed`,
          );
          break;
        }
        default:
      }
    }
    const { queueDrops } = this.#table.counters;
    if (queueDrops > this.#reportedDrops) this.#deps.dropped(queueDrops - this.#reportedDrops);
    this.#reportedDrops = queueDrops;
    if (changed) this.#deps.changed();
    this.#arm();
  }

  #solicit(e: TableEffect & { readonly kind: "solicit" }): void {
    const segment = this.#segments.get(e.key.segment);
    if (!segment) return;
    const ask = { sha: segment.gateway.mac, spa: segment.gateway.ip, tpa: e.key.ip };
    if (e.mode === "broadcast") this.#deps.broadcast(e.key.segment, buildArpRequest(ask));
    else this.#deps.unicast(e.port, buildArpRequest({ ...ask, dst: e.mac }));
  }

  /** The pipeline has done everything to the packet but this. */
  #forward(frame: Buffer, mac: number, port: number): void {
    const out = Buffer.from(frame);
    out.writeUIntBE(mac, 0, 6);
    this.#deps.forward(port, out);
  }

  #logChange(key: NeighbourKey): void {
    const known = this.#table.get(key);
    const where = known && published(known);
    const ip = formatIpv4(key.ip);
    if (where) this.#deps.log.info({ ip, mac: formatMac(where.mac), port: where.port }, "next hop resolved");
    else this.#deps.log.warn({ ip, state: known?.state ?? "forgotten" }, "next hop has no MAC");
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const next = this.#table.nextDeadline();
    if (next === undefined || this.#stopped) return;
    this.#timer = setTimeout(
      () => this.#run(this.#table.tick(performance.now(), Math.random)),
      Math.max(1, next - performance.now()),
    );
  }
}
