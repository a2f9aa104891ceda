import { formatIpv4, formatMac } from "../../../openflow/packet/address.ts";
import { loadTopology } from "../../config/topology.ts";
import { monitor } from "../balancer.ts";
import { LabError } from "../shell.ts";
import { backendPort, type HostName, type HostSpec, seedHosts, virtualServices } from "../topology.ts";

/** A segment as the topology file has it, and the lab's hosts in it. */
export interface SegmentFacts {
  readonly id: number;
  readonly name: string;
  readonly gateway: { readonly ip: string; readonly mac: string };
  readonly vip: string;
  /** Source of health probes; the public segment has none. */
  readonly probe: string | undefined;
  /** Every address that the node has in it. */
  readonly own: readonly string[];
  readonly hosts: readonly HostSpec[];
  /** The host from which the segment is looked at. */
  readonly client: HostName;
  /** A host's address, and the network as text such as "10.20.0.0/24". */
  readonly subnet: string;
}

export interface MemberFacts {
  readonly host: HostName;
  readonly ip: string;
  readonly mac: string;
  readonly segment: SegmentFacts;
}

/** What the lab is meant to be: from its topology file, its plan of hosts and its load balancer, nothing of it from the controller. */
export interface Facts {
  readonly pub: SegmentFacts;
  readonly p2: SegmentFacts;
  readonly p3: SegmentFacts;
  readonly segments: readonly SegmentFacts[];
  readonly members: readonly MemberFacts[];
  readonly vipPort: number;
  readonly memberPort: number;
  /** Milliseconds in which a dead member must be out, and a live one back, with a second for the switch to be told. */
  readonly downMs: number;
  readonly upMs: number;
  readonly intervalMs: number;
}

const toldMs = 1000;

/** @throws LabError when the topology file is not the lab's. */
export function readFacts(topologyFile: string): Facts {
  const loaded = loadTopology(topologyFile);
  if (!loaded.ok) throw new LabError(`${topologyFile} has errors`);
  const segments = loaded.topology.segments.map((segment): SegmentFacts => {
    const ports = segment.ports.map((port) => port.name);
    const hosts = seedHosts.filter((host) => ports.includes(host.port));
    const service = virtualServices.find(({ client }) => hosts.some((host) => host.name === client));
    if (service === undefined) throw new LabError(`${topologyFile} is not the lab's: no client in ${segment.name}`);
    const gateway = { ip: formatIpv4(segment.gateway.ip), mac: formatMac(segment.gateway.mac) };
    const vip = new URL(service.url).hostname;
    const probe = segment.probe === undefined ? undefined : formatIpv4(segment.probe.ip);
    const subnet = `${formatIpv4(segment.subnet.address)}/${segment.subnet.length}`;
    const own = [gateway.ip, vip, ...(probe === undefined ? [] : [probe])];
    return { id: segment.id, name: segment.name, gateway, vip, probe, own, hosts, client: service.client, subnet };
  });
  const named = (name: string): SegmentFacts => {
    const found = segments.find((segment) => segment.name === name);
    if (found === undefined) throw new LabError(`${topologyFile} is not the lab's: no segment ${name}`);
    return found;
  };
  const backends = seedHosts.filter((host) => host.backend);
  return {
    pub: named("pub"),
    p2: named("p2"),
    p3: named("p3"),
    segments,
    members: backends.map((host) => ({
      host: host.name,
      ip: addressOf(host),
      mac: host.mac,
      segment: segments.find((segment) => segment.hosts.includes(host))!,
    })),
    vipPort: 80,
    memberPort: backendPort,
    downMs: (monitor.max_retries_down * monitor.delay + monitor.timeout) * 1000 + toldMs,
    upMs: (monitor.max_retries * monitor.delay + monitor.timeout) * 1000 + toldMs,
    intervalMs: monitor.delay * 1000,
  };
}

/** A host's address without the prefix length. */
export function addressOf(host: HostSpec): string {
  return host.address.split("/")[0]!;
}

/** @throws LabError for a name that no host has. */
export function hostSpec(name: HostName): HostSpec {
  const found = seedHosts.find((host) => host.name === name);
  if (found === undefined) throw new LabError(`there is no host ${name}`);
  return found;
}
