import { pino } from "pino";
import { Registry } from "prom-client";
import type { AccessOptions } from "../../controller/api/access.ts";
import type { StreamOptions } from "../../controller/api/event-stream.ts";
import { NotFound } from "../../controller/api/refusals.ts";
import { type ApiSource, buildApi } from "../../controller/api/server.ts";
import { FaultyTopology } from "../../controller/api/topology.ts";
import type { HealthView, MemberHealthView, SegmentView, SlotsView, StatusView } from "../../controller/api/views.ts";
import { EventBus } from "../../controller/events.ts";
import { webPage } from "../../src/static-files.ts";

/** What the made-up daemon knows; tests change it while the API runs. */
export interface World {
  down: Set<string>;
  draining: Set<string>;
  packets: number;
  topologyText: string;
  isReady: boolean;
  /** Who asked for each change. */
  readonly asked: string[];
}

const newWorld = (): World => ({
  down: new Set(),
  draining: new Set(),
  packets: 1000,
  topologyText: "nodes: []\nsegments: []\n",
  isReady: true,
  asked: [],
});

const NAMES = ["be1", "be2", "be3", "be4"] as const;
const ADDRESSES = ["10.20.0.2", "10.30.0.2", "10.20.0.3", "10.30.0.3"] as const;
const SLOTS = 64;

const serving = (w: World): number[] =>
  NAMES.map((_, i) => i + 1).filter((id) => {
    const name = NAMES[id - 1] as string;
    return !w.down.has(name) && !w.draining.has(name);
  });

const layoutOf = (w: World): number[] => {
  const ids = serving(w);
  return ids.length === 0 ? [] : Array.from({ length: SLOTS }, (_, i) => ids[i % ids.length] as number);
};

const memberOf = (w: World, i: number): MemberHealthView => {
  const name = NAMES[i] as string;
  const isDown = w.down.has(name);
  const layout = layoutOf(w);
  const slots = layout.filter((id) => id === i + 1).length;
  const reason = isDown ? "connection refused" : "status 200";
  return {
    id: i + 1,
    uuid: `00000000-0000-4000-8000-00000000000${i + 1}`,
    name,
    address: `${ADDRESSES[i]}:8080`,
    state: isDown ? "down" : "up",
    admin: w.draining.has(name) ? "draining" : "enabled",
    eligibility: isDown ? "down" : w.draining.has(name) ? "draining" : "eligible",
    inPool: slots > 0,
    slots,
    nodes: [
      {
        node: "lb1",
        state: isDown ? "down" : "up",
        adopted: false,
        probes: 120,
        failures: isDown ? 3 : 0,
        ms: 2.4,
        source: "10.20.0.253",
        reason,
        secondsInState: 42,
        history: [{ ok: !isDown, reason, ms: 2.4, at: "2026-01-02T03:04:05.000Z" }],
      },
    ],
  };
};

const healthOf = (w: World): HealthView => ({
  loadBalancer: "web",
  pool: "web",
  poolId: 1,
  slots: SLOTS,
  digest: `d5467d94${String(serving(w).length).padStart(8, "0")}`,
  monitor: { type: "http", interval: 2, timeout: 1, rise: 2, fall: 3 },
  members: NAMES.map((_, i) => memberOf(w, i)),
});

const slotsOf = (w: World): SlotsView => {
  const health = healthOf(w);
  w.packets += 40;
  return {
    loadBalancer: "web",
    pool: "web",
    poolId: 1,
    slots: SLOTS,
    digest: health.digest,
    layout: layoutOf(w),
    members: health.members.map((m) => ({
      name: m.name,
      id: m.id,
      address: m.address,
      eligibility: m.eligibility,
      weight: 1,
      slots: m.slots,
      share: m.slots / SLOTS,
      packets: String(w.packets * m.id),
      bytes: String(w.packets * m.id * 80),
    })),
  };
};

const segment = (id: number, name: string, kind: SegmentView["kind"], net: string, vip: string): SegmentView => ({
  id,
  name,
  kind,
  subnet: `${net}.0/24`,
  gateway: `${net}.1`,
  probe: kind === "private" ? `${net}.253` : null,
  vips: [{ ip: vip, loadBalancer: "web", listeners: ["tcp/80"] }],
});

const statusOf = (w: World): StatusView => ({
  version: "0.0.0",
  uptimeSeconds: 4711,
  openflow: "0.0.0.0:6653",
  topology: "/etc/openflow-lb/topology.yaml",
  reloadError: null,
  nodes: [
    {
      name: "lb1",
      state: w.isReady ? "steady" : "observing",
      datapathId: "00000242c0a80514",
      peer: "192.0.2.9:40112",
      role: "equal",
      generation: { desired: 7, applied: 7 },
      flows: 1211,
      flowModsSent: 1300,
      driftRepaired: 0,
      packetIns: {},
      secondsSinceCheck: 3,
      lastError: null,
    },
  ],
});

const PORTS = [
  ["pub0", "pub"],
  ["p2", "p2"],
  ["be1", "p2"],
  ["be3", "p2"],
  ["p3", "p3"],
  ["be2", "p3"],
  ["be4", "p3"],
] as const;

function sourceOf(w: World, events: EventBus): ApiSource {
  const flow = { node: "lb1", cookie: "0x4c42", bytes: "0", feature: "ingress", object: "" };
  return {
    ready: () => w.isReady,
    status: () => statusOf(w),
    segments: () => [
      segment(1, "pub", "public", "192.168.5", "192.168.5.21"),
      segment(2, "p2", "private", "10.20.0", "10.20.0.100"),
      segment(3, "p3", "private", "10.30.0", "10.30.0.100"),
    ],
    ports: () =>
      PORTS.map(([name, of], i) => ({
        node: "lb1",
        name,
        ofport: i + 1,
        segment: of,
        role: name === of ? "uplink" : "host",
        state: "up",
        mac: "02:00:00:00:00:01",
        claims: 0,
        macsNotLearned: 0,
        clientsNotLearned: 0,
      })),
    neighbours: () =>
      NAMES.map((name, i) => ({
        node: "lb1",
        segment: (ADDRESSES[i] as string).startsWith("10.20") ? "p2" : "p3",
        ip: ADDRESSES[i] as string,
        mac: `02:00:00:14:00:0${i + 1}`,
        port: name,
        state: "reachable",
        usedBy: [name],
        secondsSinceConfirmed: 2,
        queued: 0,
      })),
    flows: async (table) =>
      [
        {
          ...flow,
          table: 0,
          tableName: "ingress",
          tablePurpose: "Ingress port to segment",
          priority: 100,
          text: "table=0, priority=100,in_port=1 actions=load:0x1->NXM_NX_REG0[],goto_table:1",
          packets: "120",
          why: "Port pub0 belongs to segment pub.",
        },
        {
          ...flow,
          table: 10,
          tableName: "listeners",
          tablePurpose: "Listener to slot",
          priority: 100,
          text: "table=10, priority=100,tcp,nw_dst=192.168.5.21,tp_dst=80 actions=goto_table:11",
          packets: "0",
          why: "Listener http chooses a slot of pool web.",
        },
      ].filter((f) => table === undefined || String(f.table) === table),
    slots: async () => [slotsOf(w)],
    plan: async () => [{ node: "lb1", operations: [], error: null }],
    health: () => [healthOf(w)],
    setDrain: async (which, drain, who) => {
      const i = NAMES.findIndex((name, k) => name === which || memberOf(w, k).uuid === which);
      const name = NAMES[i];
      if (name === undefined) throw new NotFound(`there is no member "${which}"`);
      w.asked.push(`${who} ${drain ? "drain" : "enable"} ${name}`);
      const before = memberOf(w, i);
      if (drain) w.draining.add(name);
      else w.draining.delete(name);
      events.publish({
        kind: "drain",
        level: "info",
        text: `member ${name} is ${drain ? "draining" : "enabled"}`,
        data: {},
      });
      return { before, after: memberOf(w, i) };
    },
    topologyText: () => w.topologyText,
    setTopologyText: async (text, who) => {
      if (text.includes("wrong")) throw faulty(text);
      w.asked.push(`${who} topology`);
      w.topologyText = text;
    },
    planFor: async (text) => {
      if (text.includes("wrong")) throw faulty(text);
      return [{ node: "lb1", operations: [{ sign: "+", text: "flow", reason: "missing" }], error: null }];
    },
    trace: async (question) => ({
      node: "lb1",
      packet: `tcp,nw_src=${question.src},nw_dst=${question.dst}`,
      switchArguments: [],
      assumptions: ["The MAC is made up."],
      passes: [
        {
          from: 0,
          conntrack: null,
          final: "tcp",
          steps: [
            {
              table: 0,
              tableName: "ingress",
              depth: 0,
              flow: "table=0, priority=100,in_port=1 actions=goto_table:1",
              cookie: "0x4c42",
              feature: "ingress",
              object: "",
              why: "Port pub0 belongs to segment pub.",
              notes: [],
              registers: { reg0: "1 (segment pub)" },
            },
          ],
        },
      ],
      outputs: [{ port: "be1", ofport: 10, packet: "tcp", changed: { ip_dst: "10.20.0.2" } }],
      punts: [],
      learned: [],
      dropped: null,
      unknown: [],
    }),
    fdb: async () => [],
  };
}

const faulty = (text: string): FaultyTopology =>
  new FaultyTopology(
    text
      .split("\n")
      .flatMap((line, i) =>
        line.includes("wrong") ? [{ line: i + 1, column: 1, field: "segments", message: "is wrong" }] : [],
      ),
  );

interface WebAppOptions {
  readonly world?: World;
  readonly access?: AccessOptions;
  readonly stream?: Partial<StreamOptions>;
  /** What the daemon says otherwise than this file has it. */
  readonly instead?: (source: ApiSource) => Partial<ApiSource>;
}

/** The API with the web page on a made-up daemon. It does not listen by itself. */
export function webApp(options: WebAppOptions = {}) {
  const world = options.world ?? newWorld();
  const events = new EventBus(20, "run");
  const page = webPage();
  const source = sourceOf(world, events);
  const app = buildApi({ ...source, ...options.instead?.(source) }, new Registry(), pino({ level: "silent" }), {
    version: "0.0.0",
    events,
    access: { publish: events.publish, ...options.access },
    ...(options.stream ? { stream: options.stream } : {}),
    more: (scope) => {
      page.routes(scope);
      scope.get("/", { config: { open: true } }, (request, reply) => page.page(request, reply));
    },
  });
  return { app, world, events };
}
