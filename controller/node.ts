import type { Logger } from "pino";
import type { Message } from "../openflow/messages/all.ts";
import { FlowCommand } from "../openflow/messages/flow.ts";
import { type FlowUpdate, MonitorFlag } from "../openflow/messages/monitor.ts";
import { Port, PortReason } from "../openflow/messages/port.ts";
import { ownAddresses } from "../pipeline/addresses.ts";
import { readNeighbours, readServing } from "../pipeline/adopt.ts";
import { compile } from "../pipeline/compile.ts";
import { isLearned, isOurs, learnedBit, ownerCookie } from "../pipeline/cookies.ts";
import { diff, isEmptyPlan, type Plan } from "../pipeline/diff.ts";
import { flowKey } from "../pipeline/identity.ts";
import { isBack, leaving, leavingFlows, type Places, placesOf } from "../pipeline/leavers.ts";
import { leftPorts } from "../pipeline/left-ports.ts";
import type { DesiredState, Health, Node, Topology } from "../pipeline/model.ts";
import { floodGroup } from "../pipeline/ownership.ts";
import type { Program } from "../pipeline/program.ts";
import { Announcer } from "./announcer.ts";
import type { NodeState } from "./api/views.ts";
import type { Publish } from "./events.ts";
import { HealthChecker } from "./health/checker.ts";
import { ProbeMetrics } from "./health/probe-metrics.ts";
import type { Metrics, PortSources } from "./metrics.ts";
import { NeighbourResolver } from "./neighbour/resolver.ts";
import { NodeEvents, type Suspect } from "./node-events.ts";
import { readPacketIn } from "./packet-in.ts";
import { PacketInHandlers } from "./packet-in-handlers.ts";
import { type Attachment, attach, isUp, type SwitchPort } from "./ports.ts";
import { RateLimitedLog } from "./rate-limited-log.ts";
import { applyPlan } from "./reconcile/apply.ts";
import { DEFAULT_LOOP, ReconcileLoop, type RoundResult } from "./reconcile/loop.ts";
import { dumpFlows, type ObservedFlow, observe } from "./reconcile/observe.ts";
import { RETAKE_MS, type RoleName, roleName, takePrimary } from "./role.ts";
import type { SwitchError } from "./session/requests.ts";
import type { Session } from "./session/session.ts";
import { SourceWatch } from "./source-watch.ts";
import { StaleConnections } from "./stale-connections.ts";

/** What a switch answers a secondary controller that writes. */
const IS_SECONDARY = "OFPBRC_IS_SECONDARY";

export interface NodeDeps {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** By member id, as all nodes together see it. */
  readonly health: () => ReadonlyMap<number, Health>;
  /** By member id, where open connections decide (pipeline/least-connections.ts). */
  readonly followedWeights: () => ReadonlyMap<number, number>;
  /** What this node's probes say of a member has changed. */
  readonly healthChanged: (reason: string) => void;
  readonly publish: Publish;
}

/**
 * One bridge and everything the controller knows about it. It outlives connections: while the switch is away it keeps
 * the wanted state, and brings the switch to it when it comes back.
 */
export class NodeController {
  readonly node: Node;
  readonly resolver: NeighbourResolver;
  readonly checker: HealthChecker;
  readonly sources = new SourceWatch();
  #deps: NodeDeps;
  #topology: Topology;
  #session: Session | undefined;
  #lastDatapathId: string | undefined;
  #ports = new Map<number, SwitchPort>();
  #state: NodeState = "disconnected";
  #loop: ReconcileLoop;
  #announcer: Announcer;
  #handlers: PacketInHandlers;
  #events: NodeEvents;
  /** Whether this connection's switch has told what it holds, and neighbours and serving members were taken over. */
  #adopted = false;
  /** Whether this connection's switch has our groups, so that packets can be flooded. */
  #programmed = false;
  #program: Program | undefined;
  #programKeys: ReadonlySet<string> = new Set();
  #lastSeen: readonly ObservedFlow[] = [];
  #stale: StaleConnections;
  /** Who had connections when the switch was last up to date. */
  #places: Places | undefined;
  #role: RoleName = "equal";
  #retakeAt = 0;
  #errors = new RateLimitedLog();
  #generation = { desired: 0, applied: 0 };
  #flowModsSent = 0;
  #driftRepaired = 0;
  #lastCheck: number | undefined;
  #lastError: string | undefined;
  #packetIns: Record<string, number> = {};
  #announced = new Set<string>();
  /** Segments with ports that came up and have not been announced to yet. */
  #cameUp = new Set<number>();

  constructor(node: Node, topology: Topology, deps: NodeDeps) {
    this.node = node;
    this.#topology = topology;
    this.#deps = { ...deps, log: deps.log.child({ node: node.name }) };
    this.#stale = new StaleConnections(this.#deps.log);
    this.#events = new NodeEvents(node.name, deps.publish, this.#deps.log);
    this.#announcer = new Announcer((segment, frame) => this.#flood(segment, frame, "gratuitous ARP"));
    this.resolver = new NeighbourResolver({
      log: this.#deps.log,
      broadcast: (segment, frame) => this.#flood(segment, frame, "ARP request"),
      unicast: (ofport, frame) => this.#packetOut(ofport, frame, "ARP request"),
      forward: (ofport, frame) => this.#packetOut(ofport, frame, "waiting packet"),
      changed: () => {
        this.checker.neighboursChanged();
        this.#events.neighbours(this.resolver.published(), (ofport) => this.#portName(ofport));
        this.#wantedChanged("neighbours");
      },
      conflict: (segment, what) => {
        const name = this.#segmentName(segment);
        this.#deps.metrics.neighbourConflicts.inc({ node: this.node.name, segment: name });
        this.#events.suspicion("conflict", { segment: name }, what);
      },
      portNumber: (name) => [...this.#ports.values()].find((p) => p.name === name)?.portNo,
      dropped: (n) => this.#deps.metrics.queueDrops.inc({ node: node.name }, n),
    });
    const probeMetrics = new ProbeMetrics(this.#deps.metrics, node.name);
    this.checker = new HealthChecker({
      log: this.#deps.log,
      send: (segment, ofport, frame) =>
        ofport === undefined ? this.#flood(segment, frame, "probe") : this.#packetOut(ofport, frame, "probe"),
      lookup: (key) => this.resolver.lookup(key),
      changed: deps.healthChanged,
      probed: (target, result, health) => {
        probeMetrics.probed(target, result, health);
        this.#events.probed(target, result, health.state);
      },
      forgotten: (target) => {
        probeMetrics.forgotten(target);
        this.#events.forgotten(target);
      },
    });
    this.resolver.setTopology(topology);
    this.checker.setTopology(topology);
    this.#handlers = new PacketInHandlers({
      topology: () => this.#topology,
      resolver: this.resolver,
      send: (ofport, frame, what) => this.#packetOut(ofport, frame, what),
      claim: (inPort, what) => {
        const suspect = this.#suspect(inPort);
        this.#events.suspicion("conflict", suspect, `port ${suspect.port}: ${what}`);
      },
      probeAnswer: (segment, inPort, frame) => this.checker.handle(segment, inPort, frame),
    });
    this.#loop = new ReconcileLoop({
      ...DEFAULT_LOOP,
      round: (reasons) => this.#round(reasons),
      ended: (result) => this.#ended(result),
    });
    this.#deps.metrics.neighbourStates.set(node.name, () => this.resolver.views().map((view) => view.state));
    this.#deps.metrics.sources.set(node.name, () => this.#portSources());
    this.#deps.metrics.connected.set({ node: node.name }, 0);
    this.#deps.metrics.steady.set({ node: node.name }, 0);
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /** Whether members can be probed through the switch. */
  get isProbing(): boolean {
    return this.#session !== undefined && this.#role !== "secondary";
  }

  get topology(): Topology {
    return this.#topology;
  }

  get ports(): Attachment {
    return attach(this.#topology.segments, this.#ports.values());
  }

  status() {
    return {
      state: this.#state,
      role: this.#role,
      datapathId: this.#lastDatapathId ?? this.node.datapathId ?? null,
      peer: this.#session?.peer ?? null,
      generation: { ...this.#generation },
      flows: this.#program?.flows.length ?? 0,
      flowModsSent: this.#flowModsSent,
      driftRepaired: this.#driftRepaired,
      packetIns: { ...this.#packetIns },
      secondsSinceCheck: this.#lastCheck === undefined ? null : (Date.now() - this.#lastCheck) / 1000,
      lastError: this.#lastError ?? null,
    };
  }

  /** Everything the flows depend on, as it is now. */
  desired(): DesiredState {
    return {
      ...this.#topology,
      node: this.node,
      ports: this.ports.attached,
      neighbours: this.resolver.published(),
      health: this.#deps.health(),
      followedWeights: this.#deps.followedWeights(),
    };
  }

  setTopology(topology: Topology): void {
    this.#topology = topology;
    this.resolver.setTopology(topology);
    this.checker.setTopology(topology);
    this.#announceNew();
    this.#wantedChanged("topology");
  }

  /** Health or anything else outside this node changed what is wanted. */
  touch(reason: string): void {
    this.#wantedChanged(reason);
  }

  /** A switch has connected. A second connection of the same bridge takes the place of the first. */
  async attach(session: Session): Promise<void> {
    const before = this.#session;
    this.#session = session;
    this.#lastDatapathId = session.features.datapathId;
    this.#adopted = false;
    this.#programmed = false;
    this.checker.setConnected(false);
    this.#role = "equal";
    if (before) before.close("superseded by a newer connection of the same bridge");
    this.#setState("observing");
    this.#deps.metrics.connected.set({ node: this.node.name }, 1);
    const parts = await session.multipart({ type: "port_desc_request", flags: 0 }, "description of ports");
    if (this.#session !== session) return;
    this.#ports = new Map(
      parts.flatMap((p) => (p.type === "port_desc_reply" ? p.ports : [])).map((p) => [p.portNo, p] as const),
    );
    this.#role = await takePrimary(session);
    if (this.#session !== session) return;
    session.send(
      {
        type: "flow_monitor_request",
        flags: 0,
        monitors: [
          {
            monitorId: 1,
            flags: MonitorFlag.add | MonitorFlag.delete | MonitorFlag.modify,
            outPort: Port.any,
            tableId: 0xff,
            match: [],
          },
        ],
      },
      "flow monitor",
    );
    this.#loop.trigger("connected", true);
  }

  detach(session: Session, reason: string): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#lastError = reason;
    this.checker.setConnected(false);
    this.#setState("disconnected");
    this.#deps.metrics.connected.set({ node: this.node.name }, 0);
  }

  stop(): void {
    this.#loop.stop();
    this.#announcer.stop();
    this.#stale.stop();
    this.resolver.stop();
    this.checker.stop();
    this.#deps.metrics.neighbourStates.delete(this.node.name);
    this.#deps.metrics.sources.delete(this.node.name);
  }

  handle(message: Message): void {
    switch (message.type) {
      case "port_status":
        this.#portStatus(message.reason, message.port);
        return;
      case "flow_monitor_reply":
        this.#flowUpdates(message.updates);
        return;
      case "role_status":
        this.#setRole(roleName(message.role));
        return;
      case "nxt_packet_in2": {
        const packet = readPacketIn(message);
        const punt = packet?.punt ?? "other";
        this.#packetIns[punt] = (this.#packetIns[punt] ?? 0) + 1;
        this.#deps.metrics.packetIns.inc({ node: this.node.name, class: punt });
        if (packet) this.#handlers.handle(packet);
        return;
      }
      default:
    }
  }

  handleError(error: SwitchError): void {
    this.#deps.metrics.refusals.inc({ node: this.node.name, code: error.code });
    if (error.code === IS_SECONDARY) this.#setRole("secondary");
    this.#errors.line(error.code, (held) =>
      this.#deps.log.warn({ code: error.code, xid: error.xid, ...(held > 0 ? { heldBack: held } : {}) }, error.message),
    );
  }

  /** What the next round would do, from a fresh look at the switch; with another topology, what that would change. */
  async plan(topology: Topology = this.#topology): Promise<Plan> {
    const session = this.#session;
    if (!session) throw new Error("the switch is not connected");
    const ports = attach(topology.segments, this.#ports.values()).attached;
    return diff(compile({ ...this.desired(), ...topology, ports }), await observe(session));
  }

  /** Our flows as the last look at the switch found them. */
  get lastSeen(): readonly ObservedFlow[] {
    return this.#lastSeen;
  }

  /** Flows of one table or of all, learned and foreign ones included. */
  async dump(tableId?: number): Promise<readonly ObservedFlow[]> {
    if (!this.#session) throw new Error("the switch is not connected");
    return dumpFlows(this.#session, { cookie: 0n, cookieMask: 0n, ...(tableId === undefined ? {} : { tableId }) });
  }

  async #round(reasons: readonly string[]): Promise<RoundResult> {
    const session = this.#session;
    if (session?.state !== "ready") return { kind: "unknown", reason: "the switch is not connected" };
    if (this.#role === "secondary") {
      if (performance.now() < this.#retakeAt) return { kind: "unknown", reason: "another controller is primary" };
      this.#setRole(await takePrimary(session));
      if (this.#isSecondary()) return { kind: "unknown", reason: "another controller stays primary" };
    }
    const observed = await observe(session);
    this.#lastSeen = observed.flows;
    this.#watchSources(observed.flows);
    if (!this.#adopted) {
      this.resolver.adopt(readNeighbours(observed.flows, this.#topology));
      this.checker.adopt(readServing(observed.flows, this.#topology));
      this.#adopted = true;
    }
    const { desired } = this.#generation;
    const wanted = this.desired();
    const program = compile(wanted);
    const places = placesOf(wanted);
    this.#program = program;
    this.#programKeys = new Set(program.flows.map((f) => f.key));
    this.#deps.metrics.flows.set({ node: this.node.name }, program.flows.length);
    const plan = diff(program, observed);
    const forgetLeavers = (): void => {
      const gone =
        this.#places === undefined ? leavingFlows(observed.flows, program.flows) : leaving(this.#places, places);
      this.#stale.forget(session, gone, (what) => isBack(what, placesOf(this.desired())));
      this.#places = places;
    };
    if (isEmptyPlan(plan)) {
      forgetLeavers();
      this.#generation.applied = desired;
      return { kind: "steady", changes: 0 };
    }
    this.#setState("converging");
    const changes = plan.before.length + plan.bundle.length + plan.after.length;
    const isDrift = reasons.every((r) => r === "refresh" || r === "changed by others");
    this.#deps.log.info({ reasons, changes, drift: isDrift }, "bringing the switch up to date");
    const result = await applyPlan(session, plan);
    for (const command of result.flowMods) this.#deps.metrics.flowMods.inc({ node: this.node.name, command });
    this.#flowModsSent += result.flowMods.length;
    if (result.kind !== "applied") {
      if (result.reason.includes(IS_SECONDARY)) this.#setRole("secondary");
      return result;
    }
    this.#generation.applied = desired;
    forgetLeavers();
    for (const ofport of leftPorts(observed.flows, program.flows)) this.#forgetLearned(ofport);
    this.#events.reconciled(changes, reasons, isDrift);
    if (isDrift) {
      this.#driftRepaired += changes;
      this.#deps.metrics.drift.inc({ node: this.node.name }, changes);
    }
    return { kind: "steady", changes: changes };
  }

  #ended(result: RoundResult): void {
    this.#deps.metrics.rounds.inc({ node: this.node.name, result: result.kind });
    // A refused change is no reason to stop looking after the members.
    if (this.#session && result.kind !== "unknown") this.checker.setConnected(true);
    if (result.kind === "steady") {
      this.#lastCheck = Date.now();
      this.#lastError = undefined;
      this.#setState(this.#session ? "steady" : "disconnected");
      if (!this.#programmed && this.#session) {
        this.#programmed = true;
        this.resolver.askUnknown();
      }
      this.#announceNew();
      this.#announceToNewPorts();
      return;
    }
    if (!this.#session) return;
    this.#lastError = result.reason;
    this.#setState(result.kind === "refused" ? "refused" : "observing");
    this.#deps.log.warn(`the switch is not in its wanted state: ${result.reason}`);
  }

  #setState(state: NodeState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#events.state(state, { peer: this.#session?.peer, error: this.#lastError });
    this.#deps.metrics.steady.set({ node: this.node.name }, state === "steady" ? 1 : 0);
  }

  /** Read through a method where an await may have changed it, which the compiler does not expect of fields. */
  #isSecondary(): boolean {
    return this.#role === "secondary";
  }

  #setRole(role: RoleName): void {
    if (role === "secondary") this.#retakeAt = performance.now() + RETAKE_MS;
    if (role === this.#role) return;
    this.#role = role;
    this.#deps.metrics.secondary.set({ node: this.node.name }, role === "secondary" ? 1 : 0);
    this.#deps.log.warn(
      { role },
      role === "secondary" ? "another controller is primary; nothing is written" : "role changed",
    );
    if (role !== "secondary") this.#loop.trigger("role", true);
  }

  /** Somebody else touched flows: look at once instead of at the next refresh. Our own changes come abbreviated. */
  #flowUpdates(updates: readonly FlowUpdate[]): void {
    const concerns = updates.some((u) => {
      if (u.event === "abbrev" || isLearned(u.cookie)) return false;
      return (
        isOurs(u.cookie) || this.#programKeys.has(flowKey({ tableId: u.tableId, priority: u.priority, match: u.match }))
      );
    });
    if (concerns) this.#loop.trigger("changed by others");
  }

  #wantedChanged(reason: string): void {
    this.#generation.desired++;
    if (this.#session) this.#loop.trigger(reason);
  }

  #portStatus(reason: number, port: SwitchPort): void {
    const before = this.#ports.get(port.portNo);
    const wasUp = before !== undefined && isUp(before);
    if (reason === PortReason.delete) this.#ports.delete(port.portNo);
    else this.#ports.set(port.portNo, port);
    const up = reason !== PortReason.delete && isUp(port);
    if (wasUp && !up) {
      this.resolver.portDown(port.portNo);
      this.#forgetLearned(port.portNo);
    }
    if (!wasUp && up) {
      const attached = this.ports.attached.find((p) => p.ofport === port.portNo);
      if (attached) {
        this.#cameUp.add(attached.segment);
        this.resolver.portUp(attached.segment);
      }
    }
    if (wasUp === up && before?.name === port.name) return;
    this.#events.port(port.name, up ? "up" : reason === PortReason.delete ? "gone" : "down");
    this.#wantedChanged(`port ${port.name}`);
  }

  /**
   * What the switch has learned to be behind a port that is gone would black-hole its hosts until it ages out. Open vSwitch learns
   * from packets it has forwarded already when it counts them, up to half a second later, unless the flow that says `learn` is
   * gone: so this is done at once, for there to be no gap, and again when the port's own flows are away.
   */
  #forgetLearned(ofport: number): void {
    if (this.#role === "secondary") return;
    this.#session?.send(
      {
        type: "flow_mod",
        cookie: ownerCookie | learnedBit,
        cookieMask: 0xffff_2000_0000_0000n,
        tableId: 0xff,
        command: FlowCommand.delete,
        idleTimeout: 0,
        hardTimeout: 0,
        priority: 0,
        bufferId: 0xffff_ffff,
        outPort: ofport,
        outGroup: Port.any,
        flags: 0,
        match: [],
        instructions: [],
      },
      `forgetting what was learned behind port ${ofport}`,
    );
  }

  #announceNew(): void {
    if (this.#state !== "steady") return;
    const all = ownAddresses(this.desired()).filter((a) => a.answered);
    const fresh = all.filter((a) => !this.#announced.has(`${a.segment} ${a.ip} ${a.mac}`));
    this.#announced = new Set(all.map((a) => `${a.segment} ${a.ip} ${a.mac}`));
    if (fresh.length > 0) this.#announcer.announce(fresh);
  }

  /** Only now: before the switch has the ports that came up in its groups, nobody behind them hears anything. */
  #announceToNewPorts(): void {
    if (this.#generation.applied !== this.#generation.desired || this.#cameUp.size === 0) return;
    this.#announcer.announce(ownAddresses(this.desired()).filter((a) => a.answered && this.#cameUp.has(a.segment)));
    this.#cameUp.clear();
  }

  #portName(ofport: number): string {
    return this.#ports.get(ofport)?.name ?? `port ${ofport}`;
  }

  #segmentName(id: number): string {
    return this.#topology.segments.find((s) => s.id === id)?.name ?? String(id);
  }

  /** A port by the names it goes by; the segment is "none" where no segment claims it. */
  #suspect(ofport: number): Suspect & { readonly port: string } {
    const attached = this.ports.attached.find((p) => p.ofport === ofport);
    const segment = attached === undefined ? "none" : this.#segmentName(attached.segment);
    return { segment, port: this.#portName(ofport) };
  }

  /** What the switch has counted of the sources of frames, by port. */
  #portSources(): readonly PortSources[] {
    return this.ports.attached.flatMap((p) => {
      const counts = this.sources.counts(p.ofport);
      return counts === undefined ? [] : [{ segment: this.#segmentName(p.segment), port: p.name, counts }];
    });
  }

  #watchSources(flows: readonly ObservedFlow[]): void {
    for (const { ofport, suspicion, frames } of this.sources.look(flows)) {
      // Of claims the packets themselves tell more, see PacketInHandlers.
      if (suspicion === "claims") continue;
      const suspect = this.#suspect(ofport);
      const what = suspicion === "macs" ? "MAC addresses" : "clients";
      const text = `port ${suspect.port} has more ${what} than may be learned: ${frames} frames from others`;
      this.#events.suspicion("flood", { ...suspect, of: suspicion }, text);
    }
  }

  #flood(segment: number, frame: Buffer, what: string): boolean {
    if (!this.#programmed || this.#role === "secondary" || !this.#session) return false;
    return this.#session.sendDroppable(
      {
        type: "packet_out",
        bufferId: 0xffff_ffff,
        inPort: Port.controller,
        actions: [{ kind: "group", groupId: floodGroup(segment) }],
        data: frame,
      },
      what,
    );
  }

  #packetOut(ofport: number, frame: Buffer, what: string): boolean {
    if (this.#role === "secondary" || !this.#session) return false;
    return this.#session.sendDroppable(
      {
        type: "packet_out",
        bufferId: 0xffff_ffff,
        inPort: Port.controller,
        actions: [{ kind: "output", port: ofport, maxLen: 0 }],
        data: frame,
      },
      what,
    );
  }
}
