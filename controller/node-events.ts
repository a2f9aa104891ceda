import type { Logger } from "pino";
import { formatIpv4, formatMac } from "../openflow/packet/address.ts";
import type { Health, Neighbour } from "../pipeline/model.ts";
import type { ProbeTarget } from "../pipeline/probe-target.ts";
import type { NodeState } from "./api/views.ts";
import type { Publish } from "./events.ts";
import { RateLimitedLog } from "./rate-limited-log.ts";

/** What is remembered of a member's probes to tell a change from more of the same. */
interface Seen {
  readonly state: Health;
  readonly ok: boolean;
}

/** Where suspect frames come from. `port` is absent where it is not known. */
export interface Suspect {
  readonly segment: string;
  readonly port?: string;
  /** What there is too much of, where the kind alone does not say. */
  readonly of?: "macs" | "clients";
}

const MANY_REASONS = 3;

/** Tells what happens to one node. */
export class NodeEvents {
  #node: string;
  #publish: Publish;
  #log: Pick<Logger, "warn">;
  #neighbours = new Map<string, Neighbour>();
  #seen = new Map<number, Seen>();
  #suspicions = new RateLimitedLog();

  constructor(node: string, publish: Publish, log: Pick<Logger, "warn">) {
    this.#node = node;
    this.#publish = publish;
    this.#log = log;
  }

  state(state: NodeState, about: { readonly peer: string | undefined; readonly error: string | undefined }): void {
    const isBad = state === "disconnected" || state === "refused";
    const why = isBad && about.error !== undefined ? `: ${about.error}` : "";
    this.#publish({
      kind: "node",
      level: isBad ? "warn" : "info",
      text: `node ${this.#node} is ${state}${why}`,
      data: { node: this.#node, state, peer: about.peer ?? null, error: about.error ?? null },
    });
  }

  role(role: string): void {
    this.#publish({
      kind: "node",
      level: role === "secondary" ? "warn" : "info",
      text: `node ${this.#node}: this controller is ${role}`,
      data: { node: this.#node, role },
    });
  }

  reconciled(changes: number, reasons: readonly string[], drift: boolean): void {
    const shown = reasons.slice(0, MANY_REASONS).join(", ") + (reasons.length > MANY_REASONS ? " and others" : "");
    this.#publish({
      kind: "reconcile",
      level: drift ? "warn" : "info",
      text: `node ${this.#node}: ${changes} ${changes === 1 ? "change" : "changes"} ${drift ? "to undo what others did" : `made (${shown})`}`,
      data: { node: this.#node, changes, reasons, drift },
    });
  }

  port(name: string, state: "up" | "down" | "gone"): void {
    this.#publish({
      kind: "port",
      level: state === "up" ? "info" : "warn",
      text: `port ${name} of ${this.#node} is ${state}`,
      data: { node: this.#node, port: name, state },
    });
  }

  /** Compares with what was published last. */
  neighbours(now: readonly Neighbour[], portName: (ofport: number) => string): void {
    const next = new Map(now.map((n) => [`${n.segment} ${n.ip}`, n]));
    const tell = (ip: number, level: "info" | "warn", what: string, data: object): void =>
      this.#publish({
        kind: "neighbour",
        level,
        text: `next hop ${formatIpv4(ip)} ${what}`,
        data: { node: this.#node, ip: formatIpv4(ip), ...data },
      });
    for (const [key, n] of next) {
      const before = this.#neighbours.get(key);
      if (before && before.mac === n.mac && before.ofport === n.ofport) continue;
      const mac = formatMac(n.mac);
      const port = portName(n.ofport);
      tell(n.ip, "info", `is ${mac} on ${port}`, { mac, port });
    }
    for (const [key, n] of this.#neighbours) {
      if (!next.has(key)) tell(n.ip, "warn", "has no MAC any more", { mac: null, port: null });
    }
    this.#neighbours = next;
  }

  /**
   * Something is wrong with the source of frames. At most one of a kind and source within ten seconds is told and logged: who
   * forges frames does so as fast as he can.
   */
  suspicion(kind: "conflict" | "flood", about: Suspect, what: string): void {
    const { segment, port, of } = about;
    this.#suspicions.line(`${kind} ${of ?? ""} ${segment} ${port ?? what}`, (held) => {
      const data = { ...about, ...(held > 0 ? { heldBack: held } : {}) };
      const text = `segment ${segment}: ${what}`;
      this.#publish({ kind, level: "warn", text, data: { node: this.#node, ...data } });
      this.#log.warn(data, text);
    });
  }

  /** A probe ended. Only what is new is told: another state, or the first failure or success after the other. */
  probed(target: ProbeTarget, result: { readonly ok: boolean; readonly reason: string }, state: Health): void {
    const { member, pool } = target;
    const before = this.#seen.get(member.id);
    this.#seen.set(member.id, { state, ok: result.ok });
    const isNewState = before === undefined ? state !== "unknown" : before.state !== state;
    if (!isNewState && before?.ok === result.ok) return;
    const data = { node: this.#node, pool: pool.name, member: member.name, memberId: member.id, state, ...result };
    if (isNewState) {
      this.#publish({
        kind: "health",
        level: state === "down" ? "warn" : "info",
        text: `member ${member.name} of pool ${pool.name} is ${state}: ${result.reason}`,
        data,
      });
      return;
    }
    this.#publish({
      kind: "probe",
      level: result.ok ? "info" : "warn",
      text: `probes of member ${member.name} ${result.ok ? "succeed" : "fail"}: ${result.reason}`,
      data,
    });
  }

  forgotten(target: ProbeTarget): void {
    this.#seen.delete(target.member.id);
  }
}
