import type { ConnectionView } from "../../controller/api/trace-views.ts";
import type { SlotsView } from "../../controller/api/views.ts";
import { dumpConnections } from "../../controller/conntrack-table.ts";
import { connectionView } from "../connection-view.ts";
import { get } from "./client.ts";
import { CLIENT_OPTION_HELP, CLIENT_OPTIONS, CliError, type Command, type Invocation } from "./command.ts";
import { SOCKET_OPTION_HELP, SOCKET_OPTIONS, withSwitch } from "./switch-socket.ts";
import { type Column, table } from "./table.ts";

const COLUMNS: readonly Column<ConnectionView>[] = [
  { title: "proto", cell: (c) => c.proto },
  { title: "client", cell: (c) => c.client },
  { title: "to", cell: (c) => c.destination },
  { title: "served by", cell: (c) => c.server },
  { title: "member", cell: (c) => c.members.join(",") || "-" },
  { title: "nat", cell: (c) => c.nat },
  { title: "state", cell: (c) => c.state ?? "-" },
  { title: "zone", right: true, cell: (c) => c.zone },
  { title: "left", right: true, cell: (c) => (c.secondsLeft === null ? "-" : `${c.secondsLeft}s`) },
];

/** Members' names by "IP:PORT"; none without a daemon, which this command can do without. */
async function memberNames(call: Invocation): Promise<ReadonlyMap<string, readonly string[]>> {
  try {
    const pools = await get<readonly SlotsView[]>(call, "/v1/slots");
    const names = new Map<string, string[]>();
    for (const { address, name } of pools.flatMap((p) => p.members)) {
      const known = names.get(address);
      if (known) known.push(name);
      else names.set(address, [name]);
    }
    return names;
  } catch (e) {
    if (e instanceof CliError) return new Map();
    throw e;
  }
}

const option = (call: Invocation, name: string): string | undefined => call.values[name] as string | undefined;

/** Whether "A.B.C.D:PORT" is at an address that may or may not name a port. */
const isAt = (place: string, wanted: string): boolean => place === wanted || place.startsWith(`${wanted}:`);

/** Keeps what every given filter lets through. */
function wanted(call: Invocation): (c: ConnectionView) => boolean {
  const [client, vip, member] = ["client", "vip", "member"].map((name) => option(call, name));
  const [proto, state, zone] = ["proto", "state", "zone"].map((name) => option(call, name)?.toUpperCase());
  return (c) =>
    (client === undefined || isAt(c.client, client)) &&
    (vip === undefined || isAt(c.destination, vip)) &&
    (member === undefined || c.members.includes(member) || isAt(c.server, member)) &&
    (proto === undefined || c.proto.toUpperCase() === proto) &&
    (state === undefined || c.state === state) &&
    (zone === undefined || String(c.zone) === zone);
}

export const connsCommand: Command = {
  name: "conns",
  summary: "connections that the switch on this machine tracks",
  usage: "[FILTERS] [--unixctl PATH] [--json] [--server URL]",
  options: {
    ...CLIENT_OPTIONS,
    ...SOCKET_OPTIONS,
    client: { type: "string" },
    vip: { type: "string" },
    member: { type: "string" },
    proto: { type: "string" },
    state: { type: "string" },
    zone: { type: "string" },
  },
  optionHelp: [
    ["--client IP[:PORT]", "of this client only"],
    ["--vip IP[:PORT]", "to this address only"],
    ["--member NAME", "served by this member only; its address will do, too"],
    ["--proto PROTO", "tcp, udp, icmp"],
    ["--state STATE", "such as established or time_wait"],
    ["--zone ZONE", "of this conntrack zone only"],
    ...SOCKET_OPTION_HELP,
    ...CLIENT_OPTION_HELP,
  ],
  examples: ["lbctl conns --vip 192.168.5.21", "lbctl conns --member be1 --state established"],
  operands: [0, 0],
  run: async (call) => {
    const keep = wanted(call);
    const connections = await withSwitch(call, dumpConnections);
    const names = await memberNames(call);
    const rows = connections
      .map((c) => connectionView(c, names))
      .filter(keep)
      .sort((a, b) => a.client.localeCompare(b.client, "en", { numeric: true }));
    if (call.values["json"]) call.io.out(JSON.stringify(rows, null, 2));
    else call.io.out(`${table(rows, COLUMNS)}\n${rows.length} of ${connections.length} connections`);
    return 0;
  },
};
