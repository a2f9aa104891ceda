/** Names of the lab's hosts: each is a network namespace `<lab>-<host>` with one interface, `eth0`. */
export type HostName = "client" | "up2" | "up3" | "be1" | "be2" | "be3" | "be4" | "cli2" | "cli3";

export interface HostSpec {
  readonly name: HostName;
  /** Name of the bridge's port towards this host. */
  readonly port: string;
  readonly ofport: number;
  /** Address with prefix length. */
  readonly address: string;
  readonly mac: string;
  /** Arguments of `ip route add`. */
  readonly routes: readonly string[];
  /** The host runs the web service on TCP and UDP port 8080. */
  readonly backend: boolean;
}

export const bridgeName = "br-lb";
/** Address of the bridge's own port, from which OVS also makes the datapath id. */
export const bridgeMac = "02:42:c0:a8:05:14";
export const backendPort = 8080;

/** Virtual addresses of the lab's load balancer, and who is a client of which. */
export const virtualServices = [
  { client: "client", address: "192.168.5.13", url: "http://192.168.5.21/" },
  { client: "cli2", address: "10.20.0.10", url: "http://10.20.0.100/" },
  { client: "cli3", address: "10.30.0.10", url: "http://10.30.0.100/" },
] as const satisfies readonly { client: HostName; address: string; url: string }[];

/**
 * A public segment with one client, two private segments with two backends and one client each.
 *
 * Backends know the client network and the other private segment through their gateway on the bridge; everything
 * else leaves through the segment's uplink, as in a cloud where a machine has its own way out. The clients inside
 * the private segments have nothing but an address: they must reach the service without any route.
 */
export const seedHosts: readonly HostSpec[] = [
  host("client", "pub0", 1, "192.168.5.13/24", "02:00:00:00:05:0d", [
    "10.20.0.0/24 via 192.168.5.20",
    "10.30.0.0/24 via 192.168.5.20",
  ]),
  host("up2", "p2", 2, "10.20.0.254/24", "02:00:00:14:00:fe"),
  host("up3", "p3", 3, "10.30.0.254/24", "02:00:00:1e:00:fe"),
  host("be1", "be1", 10, "10.20.0.2/24", "02:00:00:14:00:02", backendRoutes("10.20.0", "10.30.0.0/24")),
  host("be3", "be3", 11, "10.20.0.3/24", "02:00:00:14:00:03", backendRoutes("10.20.0", "10.30.0.0/24")),
  host("cli2", "cli2", 12, "10.20.0.10/24", "02:00:00:14:00:0a"),
  host("be2", "be2", 20, "10.30.0.2/24", "02:00:00:1e:00:02", backendRoutes("10.30.0", "10.20.0.0/24")),
  host("be4", "be4", 21, "10.30.0.3/24", "02:00:00:1e:00:03", backendRoutes("10.30.0", "10.20.0.0/24")),
  host("cli3", "cli3", 22, "10.30.0.10/24", "02:00:00:1e:00:0a"),
];

function host(
  name: HostName,
  port: string,
  ofport: number,
  address: string,
  mac: string,
  routes: readonly string[] = [],
): HostSpec {
  return { name, port, ofport, address, mac, routes, backend: name.startsWith("be") };
}

function backendRoutes(segment: string, otherSegment: string): readonly string[] {
  return [`192.168.5.0/24 via ${segment}.1`, `${otherSegment} via ${segment}.1`, `default via ${segment}.254`];
}
