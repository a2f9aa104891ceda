import Fastify, { type FastifyInstance } from "fastify";
import type { OctaviaDeps } from "../../controller/octavia/deps.ts";
import { octaviaRoutes } from "../../controller/octavia/plugin.ts";
import { optionNames } from "../../controller/octavia/provider.ts";
import { emptySnapshot } from "../../controller/store/snapshot.ts";
import { memoryStore, type Store } from "../../controller/store/store.ts";
import { parseIpv4, parsePrefix } from "../../openflow/packet/address.ts";
import type { Health, Segment, Topology } from "../../pipeline/model.ts";

/** UUIDs of the segments of {@link topology}. */
export const subnets = {
  front: "f0000000-0000-4000-8000-000000000001",
  back: "f0000000-0000-4000-8000-000000000002",
} as const;

const ip = (text: string): number => parseIpv4(text)!;

const segment = (
  id: number,
  name: keyof typeof subnets,
  kind: Segment["kind"],
  uuid: string,
  subnet: string,
): Segment => {
  const prefix = parsePrefix(subnet)!;
  return {
    id,
    name,
    uuid,
    subnet: prefix,
    gateway: { ip: prefix.address + 1, mac: 0x0200_0000_0000 + id },
    kind,
    ports: [],
    probe: { ip: prefix.address + 2 ** (32 - prefix.length) - 3 },
    ageing: 300,
    learnLimit: 4096,
    clientsLearned: true,
  };
};

/** A public segment 192.0.2.0/24, a private one 10.20.0.0/24, and 172.16.0.0/12 behind a router of the latter. */
export const topology = (uuids: Partial<typeof subnets> = {}): Topology => ({
  nodes: [{ name: "node" }],
  segments: [
    segment(1, "front", "public", uuids.front ?? subnets.front, "192.0.2.0/24"),
    segment(2, "back", "private", uuids.back ?? subnets.back, "10.20.0.0/24"),
  ],
  routes: [{ prefix: parsePrefix("172.16.0.0/12")!, via: ip("10.20.0.254"), segment: 2 }],
  staticNeighbours: [],
  loadBalancers: [],
});

/** Knobs of a test. */
export interface World {
  store: Store;
  topology: Topology;
  health: Map<string, Health>;
  connected: boolean;
  options: OctaviaDeps["options"];
  now: Date;
}

export const newWorld = (more: Partial<World> = {}): World => ({
  store: memoryStore(emptySnapshot),
  topology: topology(),
  health: new Map(),
  connected: true,
  options: new Set(optionNames),
  now: new Date("2026-01-02T03:04:05.678Z"),
  ...more,
});

/** The API on `world`, which may be changed while it runs. */
export const octaviaApp = async (world: World, more: Partial<OctaviaDeps> = {}): Promise<FastifyInstance> => {
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
  const deps: OctaviaDeps = {
    get store() {
      return world.store;
    },
    get options() {
      return world.options;
    },
    topology: () => world.topology,
    healthOf: (member) => world.health.get(member) ?? "up",
    connected: () => world.connected,
    stats: () => ({ bytes_in: 0, bytes_out: 0, active_connections: 0, total_connections: 0, request_errors: 0 }),
    now: () => world.now,
  };
  await app.register((scope) => octaviaRoutes(scope, Object.keys(more).length === 0 ? deps : { ...deps, ...more }));
  return app;
};
