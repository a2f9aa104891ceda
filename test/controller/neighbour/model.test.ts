import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type NudEvent, published } from "../../../controller/neighbour/machine.ts";
import type { Rate } from "../../../controller/neighbour/solicit-limit.ts";
import { DEFAULT_LIMITS, NeighbourTable, type TableEffect } from "../../../controller/neighbour/table.ts";
import { keyOf } from "./network.ts";

/** Small, so that every limit is met. */
const LIMITS = {
  ...DEFAULT_LIMITS,
  unused: 3,
  queuePerNeighbour: 2,
  queueTotal: 4,
  solicits: {
    inUse: { everyMs: 1_500, burst: 1 },
    unused: { everyMs: 1_500, burst: 1 },
    each: { everyMs: 1_000, burst: 3 },
  },
};

/** Most questions that a rate allows in a half-open window. */
const allowed = ({ everyMs, burst }: Rate, windowMs: number): number => burst + windowMs / everyMs;

const lastWithin = (times: readonly number[], windowMs: number): number =>
  times.filter((time) => time > times.at(-1)! - windowMs).length;

type Action =
  | { readonly kind: "event"; readonly ip: number; readonly event: NudEvent }
  | { readonly kind: "packet"; readonly ip: number }
  | { readonly kind: "wait"; readonly ms: number };

const ip = fc.integer({ min: 1, max: 6 });
const mac = fc.integer({ min: 0x0200_0000_0001, max: 0x0200_0000_0004 });
const port = fc.integer({ min: 1, max: 3 });
const heard = (kind: "reply" | "hint" | "adopt") => fc.record({ kind: fc.constant(kind), mac, port });
const event: fc.Arbitrary<NudEvent> = fc.oneof(
  fc.record({ kind: fc.constant("use" as const), inUse: fc.boolean() }),
  { weight: 4, arbitrary: heard("reply") },
  heard("hint"),
  heard("adopt"),
  fc.record({ kind: fc.constant("port_down" as const), port }),
  fc.constant({ kind: "port_up" } as const),
  fc.record({ kind: fc.constant("permanent" as const), mac, port }),
  fc.constant({ kind: "unset" } as const),
  fc.constant({ kind: "reset" } as const),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("event" as const), ip, event }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("packet" as const), ip }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 3_000 }) }) },
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 3_000, max: 100_000 }) }),
);

test("whatever happens, the table keeps its promises", () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 1, maxLength: 80 }), (actions) => {
      const table = new NeighbourTable(undefined, LIMITS);
      let now = 0;
      let draws = 0;
      const random = () => (draws++ % 10) / 10;
      const asked: number[] = [];
      const askedOf = new Map<number, number[]>();
      const vouched = new Map<number, Set<number>>();
      /** What somebody knows who listens to the effects. */
      const told = new Map<number, string>();
      let packets = 0;
      let sent = 0;

      const vouch = (address: number, it: number) => vouched.set(address, (vouched.get(address) ?? new Set()).add(it));

      const flowsOf = (address: number): string => {
        const nud = table.get(keyOf(address));
        return JSON.stringify((nud && published(nud)) ?? null);
      };

      const take = (effects: readonly TableEffect[]) => {
        for (const effect of effects) {
          const address = effect.key.ip;
          if (effect.kind === "solicit") {
            asked.push(now);
            const own = [...(askedOf.get(address) ?? []), now];
            askedOf.set(address, own);
            for (const windowMs of [1_000, 5_000]) {
              const { inUse, unused, each } = LIMITS.solicits;
              expect(lastWithin(own, windowMs)).toBeLessThanOrEqual(allowed(each, windowMs));
              // A slot may be used up to 50 ms late.
              const most = allowed(inUse, windowMs + 50) + allowed(unused, windowMs + 50);
              expect(lastWithin(asked, windowMs)).toBeLessThanOrEqual(most);
            }
          }
          if (effect.kind === "send") {
            sent += effect.frames.length;
            expect(vouched.get(address)?.has(effect.mac)).toBe(true);
          }
          if (effect.kind === "published") told.set(address, flowsOf(address));
        }
      };

      const check = () => {
        const entries = table.entries();
        let queued = 0;
        // The limit of one next hop lasts as long as its entry.
        for (const address of [...askedOf.keys()]) if (!table.get(keyOf(address))) askedOf.delete(address);
        for (const { key, nud, queued: own } of entries) {
          queued += own;
          expect(own).toBeLessThanOrEqual(LIMITS.queuePerNeighbour);
          const known = published(nud);
          // Packets wait only while there is something to wait for.
          if (nud.state !== "incomplete") expect(own).toBe(0);
          // Nothing is believed that nobody answered, held or gave.
          if (known) expect(vouched.get(key.ip)?.has(known.mac)).toBe(true);
          if (nud.inUse && nud.state !== "permanent") expect(nud.deadline).toBeGreaterThanOrEqual(now);
          expect(nud.state).not.toBe("none");
        }
        for (let address = 1; address <= 6; address++) expect(told.get(address) ?? "null").toBe(flowsOf(address));
        expect(queued).toBeLessThanOrEqual(LIMITS.queueTotal);
        expect(packets).toBe(sent + queued + table.counters.queueDrops);
        const idle = entries.filter(({ nud }) => !nud.inUse && nud.state !== "permanent");
        expect(idle.length).toBeLessThanOrEqual(LIMITS.unused);
        const deadlines = entries.flatMap(({ nud }) => (nud.deadline === undefined ? [] : [nud.deadline]));
        expect(table.nextDeadline()).toBe(deadlines.length === 0 ? undefined : Math.min(...deadlines));
      };

      for (const it of actions) {
        if (it.kind === "packet") {
          packets++;
          take(table.enqueue(keyOf(it.ip), Buffer.from([packets]), now, random()));
        } else if (it.kind === "event") {
          const { event: news } = it;
          const question = table.get(keyOf(it.ip))?.asked;
          const isAnswer = news.kind === "reply" && question !== undefined && now - question.at <= 1_000;
          if (isAnswer || news.kind === "adopt" || news.kind === "permanent") vouch(it.ip, news.mac);
          take(table.handle(keyOf(it.ip), news, now, random()));
          // Taking over is not told: the switch has it already.
          if (news.kind === "adopt") told.set(it.ip, flowsOf(it.ip));
        } else {
          const until = now + it.ms;
          for (let at = table.nextDeadline(); at !== undefined && at <= until; at = table.nextDeadline()) {
            now = at;
            take(table.tick(now, random));
            check();
          }
          now = until;
        }
        check();
      }
    }),
    { numRuns: 300 },
  );
});
