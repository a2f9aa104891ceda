import type { Buffer } from "node:buffer";
import { DEFAULT_NUD, type NudConfig, type NudEvent, published } from "../../../controller/neighbour/machine.ts";
import {
  DEFAULT_LIMITS,
  type NeighbourKey,
  NeighbourTable,
  type TableEffect,
  type TableLimits,
} from "../../../controller/neighbour/table.ts";

/** A host on the simulated segment. */
export interface Host {
  readonly ip: number;
  mac: number;
  port: number;
  alive: boolean;
}

/** What happened, with its time in ms. */
interface Entry {
  readonly at: number;
  readonly effect: TableEffect;
}

export interface Network {
  readonly table: NeighbourTable;
  readonly log: readonly Entry[];
  readonly now: () => number;
  /** Hands an event to the table at the present time. */
  readonly event: (ip: number, event: NudEvent) => void;
  readonly packet: (ip: number, frame: Buffer) => void;
  /** Lets the time pass: due timers and answers of hosts happen in their order. */
  readonly run: (until: number) => void;
}

/** Milliseconds from a question to the arrival of its answer. */
export const ROUND_TRIP = 5;

export const keyOf = (ip: number): NeighbourKey => ({ segment: 1, ip });

/**
 * A segment with hosts that answer ARP, on a clock of its own.
 * @param options.isLost decides for each answer on its way whether it is lost
 */
export const network = (
  hosts: readonly Host[],
  options: {
    readonly config?: Partial<NudConfig>;
    readonly limits?: Partial<TableLimits>;
    readonly random?: () => number;
    readonly isLost?: () => boolean;
  } = {},
): Network => {
  const table = new NeighbourTable({ ...DEFAULT_NUD, ...options.config }, { ...DEFAULT_LIMITS, ...options.limits });
  const random = options.random ?? (() => 0);
  const log: Entry[] = [];
  const answers: { readonly at: number; readonly ip: number; readonly mac: number; readonly port: number }[] = [];
  let now = 0;

  const solicit = (effect: TableEffect & { readonly kind: "solicit" }): void => {
    for (const host of hosts) {
      if (host.ip !== effect.key.ip || !host.alive) continue;
      if (effect.mode === "unicast" && (host.mac !== effect.mac || host.port !== effect.port)) continue;
      if (options.isLost?.()) continue;
      answers.push({ at: now + ROUND_TRIP, ip: host.ip, mac: host.mac, port: host.port });
    }
  };

  const take = (effects: readonly TableEffect[]): void => {
    for (const effect of effects) {
      log.push({ at: now, effect });
      if (effect.kind === "solicit") solicit(effect);
    }
  };

  const next = (): number =>
    Math.min(table.nextDeadline() ?? Number.POSITIVE_INFINITY, answers[0]?.at ?? Number.POSITIVE_INFINITY);

  return {
    table,
    log,
    now: () => now,
    event: (ip, event) => take(table.handle(keyOf(ip), event, now, random())),
    packet: (ip, frame) => take(table.enqueue(keyOf(ip), frame, now, random())),
    run: (until) => {
      for (let at = next(); at <= until; at = next()) {
        now = Math.max(now, at);
        while (answers[0] !== undefined && answers[0].at <= now) {
          const { ip, mac, port } = answers.shift()!;
          take(table.handle(keyOf(ip), { kind: "reply", mac, port }, now, random()));
        }
        take(table.tick(now, random));
      }
      now = until;
    },
  };
};

export const macOf = (net: Network, ip: number): number | undefined => {
  const nud = net.table.get(keyOf(ip));
  return nud && published(nud)?.mac;
};

export const timesOf = (net: Network, kind: TableEffect["kind"], ip?: number): readonly number[] =>
  net.log
    .filter(({ effect }) => effect.kind === kind && (ip === undefined || effect.key.ip === ip))
    .map(({ at }) => at);
