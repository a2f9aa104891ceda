import { randomInt } from "node:crypto";
import type { Logger } from "pino";
import { formatIpv4 } from "../../openflow/packet/address.ts";
import type { Health, Topology } from "../../pipeline/model.ts";
import { type ProbeTarget, probeTargets } from "../../pipeline/probe-target.ts";
import type { Lookup } from "../neighbour/resolver.ts";
import { Alarm } from "./alarm.ts";
import { authorityOf, probeFrame, readAnswer, resetFrame } from "./frames.ts";
import { type MemberHealth, newMember, type ProbeResult, step } from "./machine.ts";
import { answered, expire, type Outcome, type Probe, resend, resendAt, type Step, startProbe } from "./probe.ts";
import { firstProbe, nextProbe, startable } from "./schedule.ts";
import { SourcePorts } from "./source-ports.ts";

export interface CheckerDeps {
  readonly log: Logger;
  /** Sends a frame by a port or, without one, to all ports of the segment; false when it could not be sent. */
  readonly send: (segment: number, ofport: number | undefined, frame: Buffer) => boolean;
  readonly lookup: (key: { readonly segment: number; readonly ip: number }) => Lookup;
  /** The state of a member has changed. */
  readonly changed: (reason: string) => void;
  readonly probed: (target: ProbeTarget, result: ProbeResult, health: MemberHealth) => void;
  /** A member is probed no more, or under another name. */
  readonly forgotten: (target: ProbeTarget) => void;
}

/** A member as people see it. */
export interface MemberView {
  readonly target: ProbeTarget;
  readonly health: MemberHealth;
}

interface Running {
  /** Absent while the next hop's MAC is being asked for. */
  probe?: Probe;
  link?: { readonly mac: number; readonly ofport?: number };
  readonly number: number;
  readonly startedAt: number;
  deadline: number;
  /** It takes the place of one that went to where the next hop no longer is. */
  readonly isSecond: boolean;
}

interface Entry {
  target: ProbeTarget;
  health: MemberHealth;
  dueAt: number;
  running: Running | undefined;
}

/** Probes under way at a time. */
const MAX_RUNNING = 500;
/** How long after a reset packets of the peer's may still be on their way, ms; its first repetition comes later. */
const CROSSING_MS = 150;
/**
 * When a timer comes later than this, ms, the process was standing still, and members are not to blame. As long again is
 * left for reading what has come meanwhile.
 */
const STALL_MS = 50;

const addressKey = (t: ProbeTarget): string => `${t.segment.id} ${t.ip}`;
const runningKey = (segment: number, ip: number, number: number): string => `${segment} ${ip} ${number}`;

/** Whether a probe for one would be a probe for the other. */
const isSameProbe = (a: ProbeTarget, b: ProbeTarget): boolean =>
  a.ip === b.ip &&
  a.port === b.port &&
  a.source === b.source &&
  a.nextHop === b.nextHop &&
  a.segment.id === b.segment.id &&
  a.segment.gateway.mac === b.segment.gateway.mac &&
  JSON.stringify(a.monitor) === JSON.stringify(b.monitor);

/** Names that logs and metrics carry. */
const isSameName = (a: ProbeTarget, b: ProbeTarget): boolean =>
  a.member.name === b.member.name && a.pool.name === b.pool.name && a.loadBalancer.name === b.loadBalancer.name;

/**
 * Probes the members through one switch: frames leave as packet-outs, answers come as packet-ins, and the machines beside
 * this file say what they mean. No address of ours has to exist in any kernel.
 */
export class HealthChecker {
  #deps: CheckerDeps;
  #entries = new Map<number, Entry>();
  #running = new Map<string, Entry>();
  /** Keys of probes that ended lately, with the time when that will have been {@link CROSSING_MS} ago; the oldest first. */
  #ended = new Map<string, number>();
  #ports = new SourcePorts(Math.random);
  #connected = false;
  #stopped = false;
  #alarm = new Alarm((now, lateMs) => this.#tick(now, lateMs));

  constructor(deps: CheckerDeps) {
    this.#deps = deps;
  }

  /** By member id; members that are not probed are missing. */
  health(): ReadonlyMap<number, Health> {
    return new Map([...this.#entries].map(([id, e]) => [id, e.health.state]));
  }

  views(): readonly MemberView[] {
    return [...this.#entries.values()];
  }

  setTopology(topology: Topology): void {
    const targets = new Map(probeTargets(topology).map((t) => [t.member.id, t]));
    const now = performance.now();
    for (const [id, e] of this.#entries) {
      const target = targets.get(id);
      if (target === undefined) this.#forget(id, e);
      else {
        if (!isSameProbe(e.target, target)) {
          this.#cancel(e);
          e.dueAt = Math.min(e.dueAt, now + target.monitor.intervalMs);
        }
        if (!isSameName(e.target, target)) this.#deps.forgotten(e.target);
        e.target = target;
      }
    }
    for (const [id, target] of targets) {
      if (this.#entries.has(id)) continue;
      this.#entries.set(id, { target, health: newMember(Date.now()), dueAt: now, running: undefined });
    }
    this.#ports.keepOnly(new Set([...targets.values()].map(addressKey)));
    this.#arm();
  }

  /** Members that serve on the switch: they are up as long as nothing else is known. */
  adopt(serving: ReadonlySet<number>): void {
    for (const id of serving) {
      const e = this.#entries.get(id);
      if (e) e.health = step(e.health, { kind: "adopted", at: Date.now() }, e.target.monitor);
    }
  }

  /** Whether probes can be sent and their answers come back. What was under way when that ends says nothing. */
  setConnected(connected: boolean): void {
    if (this.#connected === connected) return;
    this.#connected = connected;
    const now = performance.now();
    for (const e of this.#entries.values()) {
      if (!connected) this.#cancel(e);
      else e.dueAt = firstProbe(e.health.state !== "unknown", now, e.target.monitor.intervalMs, Math.random());
    }
    this.#arm();
  }

  /** Probes that wait for a MAC may have it now; those that went to a MAC or port which is no longer right start again. */
  neighboursChanged(): void {
    const now = performance.now();
    for (const e of [...this.#running.values()]) {
      if (e.running?.probe === undefined) this.#launch(e);
      else if (this.#hasMoved(e) && !e.running.isSecond) {
        this.#cancel(e);
        // Once only: a next hop that moves all the time must not go unjudged for ever.
        this.#start(e, now, true);
      }
    }
    this.#arm();
  }

  /** A frame that was addressed to a probe address of the segment. */
  handle(segment: number, inPort: number, frame: Buffer): void {
    const read = readAnswer(frame);
    if (read === undefined) return;
    const e = this.#running.get(runningKey(segment, read.from, read.number));
    const probe = e?.running?.probe;
    if (!e || !probe || (read.port !== undefined && read.port !== e.target.port)) {
      // What crossed our reset on its way needs no other one. What comes much later shows that it was lost.
      const until = this.#ended.get(runningKey(segment, read.from, read.number));
      if (until !== undefined && until > performance.now()) return;
      const reset = resetFrame(frame);
      if (reset) this.#deps.send(segment, inPort, reset);
      return;
    }
    this.#advance(e, answered(probe, read.answer, performance.now()));
    this.#wake(this.#nextFor(e));
  }

  stop(): void {
    for (const [id, e] of this.#entries) this.#forget(id, e);
    this.#stopped = true;
    this.#alarm.clear();
  }

  #hasMoved({ target, running }: Entry): boolean {
    const way = this.#deps.lookup({ segment: target.segment.id, ip: target.nextHop });
    const link = running?.link;
    return way.kind === "known" && link !== undefined && (way.mac !== link.mac || way.ofport !== link.ofport);
  }

  #start(e: Entry, now: number, isSecond = false): void {
    const { target } = e;
    const number = this.#ports.next(addressKey(target));
    e.running = { number, startedAt: now, deadline: now + target.monitor.timeoutMs, isSecond };
    this.#running.set(runningKey(target.segment.id, target.ip, number), e);
    this.#launch(e);
  }

  /** Sends the first packet, if the next hop's MAC is known. */
  #launch(e: Entry): void {
    const { target, running } = e;
    if (!running) return;
    const way = this.#deps.lookup({ segment: target.segment.id, ip: target.nextHop });
    if (way.kind === "failed") this.#end(e, { ok: false, reason: "no MAC (neighbour failed)" });
    if (way.kind !== "known") return;
    running.link = way;
    const now = performance.now();
    this.#advance(e, startProbe(target.monitor, authorityOf(target), randomInt(2 ** 32), now));
  }

  #advance(e: Entry, next: Step): void {
    const { running, target } = e;
    if (!running?.link) return;
    running.probe = next.next;
    let sent = true;
    for (const out of next.send) {
      const frame = probeFrame(target, running.link.mac, running.number, out);
      sent = this.#deps.send(target.segment.id, running.link.ofport, frame) && sent;
    }
    if (next.outcome) this.#end(e, next.outcome);
    // The way to the switch is blocked: that is not the member's fault.
    else if (!sent) this.#postpone(e);
  }

  #postpone(e: Entry): void {
    this.#drop(e);
    e.dueAt = performance.now() + e.target.monitor.intervalMs;
  }

  #end(e: Entry, { ok, reason }: Outcome): void {
    const { running, target } = e;
    if (!running) return;
    const now = performance.now();
    this.#drop(e);
    const was = e.health.state;
    const result: ProbeResult = { ok, reason, ms: now - running.startedAt, at: Date.now() };
    e.health = step(e.health, { kind: "probed", result }, target.monitor);
    const { state } = e.health;
    const times = { startedAt: running.startedAt, now, intervalMs: target.monitor.intervalMs };
    e.dueAt = nextProbe(e.health, was, times, Math.random());
    this.#deps.probed(target, result, e.health);
    if (state === was) return;
    const { member, pool } = target;
    const address = `${formatIpv4(member.ip)}:${member.port}`;
    const text = `member ${member.name} of pool ${pool.name} is ${state}: ${reason}`;
    this.#deps.log[state === "down" ? "warn" : "info"]({ member: member.name, address, was }, text);
    this.#deps.changed(`member ${member.name} is ${state}`);
  }

  /** Takes away what is under way without a word. */
  #drop(e: Entry): void {
    if (!e.running) return;
    const key = runningKey(e.target.segment.id, e.target.ip, e.running.number);
    this.#running.delete(key);
    this.#ended.set(key, performance.now() + CROSSING_MS);
    e.running = undefined;
  }

  /** Ends what is under way so that nothing is left at the member; it has no result. */
  #cancel(e: Entry): void {
    const { running, target } = e;
    if (running?.probe && running.link) {
      for (const out of expire(running.probe, 0).send) {
        const frame = probeFrame(target, running.link.mac, running.number, out);
        this.#deps.send(target.segment.id, running.link.ofport, frame);
      }
    }
    this.#drop(e);
  }

  #forget(id: number, e: Entry): void {
    this.#cancel(e);
    this.#entries.delete(id);
    this.#deps.forgotten(e.target);
  }

  #tick(now: number, lateMs: number): void {
    for (const [key, until] of this.#ended) {
      if (until > now) break;
      this.#ended.delete(key);
    }
    if (lateMs > STALL_MS) this.#grantTime(lateMs + STALL_MS);
    for (const e of [...this.#running.values()]) {
      const { running } = e;
      if (!running) continue;
      if (running.deadline <= now) this.#timeOut(e, running);
      else if (running.probe && (resendAt(running.probe) ?? Number.POSITIVE_INFINITY) <= now) {
        this.#advance(e, resend(running.probe, now));
      }
    }
    if (this.#connected) {
      const waiting = [...this.#entries.values()].filter((e) => !e.running);
      const due = waiting.map((e) => ({ e, dueAt: e.dueAt, intervalMs: e.target.monitor.intervalMs }));
      for (const { e } of startable(due, now, MAX_RUNNING - this.#running.size)) this.#start(e, now);
    }
    this.#arm();
  }

  /**
   * Gives probes that are under way the time the process did not run: answers may wait to be read. Once over, so that a
   * process that starves all the time notices dead members, too.
   */
  #grantTime(ms: number): void {
    for (const { running, target } of this.#running.values()) {
      if (running) running.deadline = Math.min(running.deadline + ms, running.startedAt + 2 * target.monitor.timeoutMs);
    }
  }

  #timeOut(e: Entry, { probe }: Running): void {
    const { timeoutMs } = e.target.monitor;
    if (probe) this.#advance(e, expire(probe, timeoutMs));
    else this.#end(e, { ok: false, reason: `no MAC (no ARP answer within ${timeoutMs / 1000} s)` });
  }

  /** When something is to be done for a member. */
  #nextFor({ running, dueAt }: Entry): number {
    if (!running) return this.#running.size < MAX_RUNNING ? dueAt : Number.POSITIVE_INFINITY;
    return Math.min(running.deadline, (running.probe && resendAt(running.probe)) ?? Number.POSITIVE_INFINITY);
  }

  /** Sets the alarm for whatever comes first. */
  #arm(): void {
    let next = Number.POSITIVE_INFINITY;
    for (const e of this.#entries.values()) next = Math.min(next, this.#nextFor(e));
    this.#alarm.clear();
    this.#wake(next);
  }

  #wake(at: number): void {
    if (!this.#stopped && this.#connected) this.#alarm.by(at);
  }
}
