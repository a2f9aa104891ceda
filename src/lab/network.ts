import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { attempt, ipBatch, LabError, run } from "./shell.ts";
import type { HostSpec } from "./topology.ts";

/**
 * How the controller, which runs in the host's own network namespace, and the lab's OVS, which does not, meet: a veth
 * pair with a link-local /30. The controller listens on the host's end. It may be killed and started at will, it sees
 * the switch's own TCP connection, several labs have an address each, and nothing is forwarded or translated.
 */
export interface ControlLink {
  /** Interface in the host's own network namespace. */
  readonly hostLink: string;
  /** The address for the controller to listen on. */
  readonly hostAddress: string;
  readonly switchAddress: string;
}

const switchLink = "ctl0";

/** Chooses a /30 that no interface of the host has; labs with different names begin their search at different places. */
export async function chooseControlLink(lab: string): Promise<ControlLink> {
  const taken = await run(["ip", "-4", "-o", "addr", "show"]);
  const first = createHash("sha256").update(lab).digest().readUInt16BE(0);
  const subnets = 64 * 64;
  for (let i = 0; i < subnets; i++) {
    const n = (first + i) % subnets;
    const prefix = `169.254.${64 + (n >> 6)}.`;
    const base = (n & 63) * 4;
    if (taken.includes(` ${prefix}${base + 1}/`) || taken.includes(` ${prefix}${base + 2}/`)) continue;
    return {
      hostLink: `of-${lab}`,
      hostAddress: `${prefix}${base + 1}`,
      switchAddress: `${prefix}${base + 2}`,
    };
  }
  throw new LabError("no free link-local subnet between 169.254.64.0 and 169.254.127.255");
}

export interface NetworkPlan {
  /** Namespace of the switch. */
  readonly switchNamespace: string;
  readonly hosts: readonly { readonly spec: HostSpec; readonly namespace: string }[];
  readonly control: ControlLink;
}

/** Namespaces and veth pairs, in one `ip` process; nothing has an address yet. */
export async function createNetwork(plan: NetworkPlan): Promise<void> {
  const { control, switchNamespace } = plan;
  await ipBatch([
    `netns add ${switchNamespace}`,
    ...plan.hosts.map(({ namespace }) => `netns add ${namespace}`),
    ...plan.hosts.map(
      ({ namespace, spec }) =>
        `link add ${spec.port} netns ${switchNamespace} type veth peer name eth0 netns ${namespace}`,
    ),
    `link add ${control.hostLink} type veth peer name ${switchLink} netns ${switchNamespace}`,
  ]);
}

/** Brings up the switch's side: its ports and both ends of the control link. */
export async function configureSwitchSide({ control, hosts, switchNamespace }: NetworkPlan): Promise<void> {
  const noIpv6 = `/proc/sys/net/ipv6/conf/${control.hostLink}/disable_ipv6`;
  if (existsSync(noIpv6)) writeFileSync(noIpv6, "1");
  await ipBatch([`addr add ${control.hostAddress}/30 dev ${control.hostLink}`, `link set ${control.hostLink} up`]);
  await configureNamespace(
    switchNamespace,
    hosts.map(({ spec }) => spec.port),
    [
      "link set lo up",
      ...hosts.map(({ spec }) => `link set ${spec.port} up`),
      `addr add ${control.switchAddress}/30 dev ${switchLink}`,
      `link set ${switchLink} up`,
    ],
  );
}

/** Gives a host its address and routes. */
export async function configureHost(namespace: string, spec: HostSpec): Promise<void> {
  await configureNamespace(
    namespace,
    ["eth0"],
    [
      "link set lo up",
      `link set eth0 address ${spec.mac} mtu 1500 up`,
      `addr add ${spec.address} dev eth0`,
      ...spec.routes.map((route) => `route add ${route}`),
    ],
  );
}

/**
 * One shell for a whole namespace.
 *
 * Without IPv6 the kernel sends no router solicitations and no multicast reports, so a capture holds only what the lab
 * does. Without checksum offload every frame carries a real checksum: a userspace switch forwards frames as they are,
 * and a capture shows what a wire would. Without segmentation offload frames keep to the MTU.
 */
async function configureNamespace(
  namespace: string,
  links: readonly string[],
  ipLines: readonly string[],
): Promise<void> {
  const script = [
    "set -e",
    "for f in all default; do",
    "  [ ! -e /proc/sys/net/ipv6/conf/$f/disable_ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/$f/disable_ipv6",
    "  echo 0 >/proc/sys/net/ipv4/conf/$f/rp_filter",
    "done",
    // The host's setting is inherited, and a Docker host forwards.
    "echo 0 >/proc/sys/net/ipv4/ip_forward",
    ...links.map((link) => `ethtool -K ${link} tx off tso off gso off >/dev/null`),
    "ip -batch - <<'END'",
    ...ipLines,
    "END",
  ].join("\n");
  await run(["ip", "netns", "exec", namespace, "sh", "-s"], { input: script });
}

/** Existing network namespaces among these names. */
export function existingNamespaces(names: readonly string[]): readonly string[] {
  return names.filter((name) => existsSync(`/run/netns/${name}`));
}

/** Removes namespaces and the host's end of the control link; what is not there is passed over. */
export async function removeNetwork(namespaces: readonly string[], hostLink: string): Promise<void> {
  // First the link: its pair goes with it at once, while a namespace's interfaces go some time after its removal.
  if (existsSync(`/sys/class/net/${hostLink}`)) await attempt(["ip", "link", "del", hostLink]);
  const there = existingNamespaces(namespaces);
  if (there.length > 0) await ipBatch(there.map((name) => `netns del ${name}`));
}

/**
 * Proves that a connection from the switch's namespace reaches the host's end.
 *
 * @throws LabError when a packet filter of the host swallows it.
 */
export async function checkControlLink({ control, switchNamespace }: NetworkPlan): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, control.hostAddress, resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const probe = `exec 3<>/dev/tcp/${control.hostAddress}/${port}`;
  const { code } = await attempt(["ip", "netns", "exec", switchNamespace, "bash", "-c", probe], { timeoutMs: 5000 });
  await new Promise((resolve) => server.close(resolve));
  if (code !== 0) {
    throw new LabError(
      `the host's packet filter drops what the lab's switch sends to the controller; allow it: ` +
        `iptables -I INPUT -i of-+ -j ACCEPT (interfaces of the labs begin with "of-")`,
    );
  }
}
