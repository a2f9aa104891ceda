import type { HealthView, MemberHealthView, ProbeView } from "../../controller/api/views.ts";
import { post } from "./client.ts";
import { CLIENT_OPTION_HELP, CLIENT_OPTIONS, type Command } from "./command.ts";
import { inspector } from "./inspect.ts";
import { type Column, table } from "./table.ts";

interface Row {
  readonly member: MemberHealthView;
  readonly probe: ProbeView | undefined;
}

const NODE_COLUMN: Column<Row> = { title: "node", cell: ({ probe }) => probe?.node ?? "-" };

const COLUMNS: readonly Column<Row>[] = [
  { title: "member", cell: ({ member }) => member.name },
  { title: "address", cell: ({ member }) => member.address },
  { title: "state", cell: ({ member, probe }) => probe?.state ?? member.state },
  { title: "admin", cell: ({ member }) => member.admin },
  { title: "in pool", cell: ({ member }) => (member.inPool ? "yes" : "no") },
  { title: "slots", right: true, cell: ({ member }) => member.slots },
  { title: "probes", right: true, cell: ({ probe }) => probe?.probes ?? 0 },
  { title: "failures", right: true, cell: ({ probe }) => probe?.failures ?? 0 },
  { title: "ms", right: true, cell: ({ probe }) => (probe?.ms == null ? "-" : probe.ms.toFixed(1)) },
  { title: "probe source", cell: ({ probe }) => probe?.source ?? "-" },
  { title: "last reason", cell: ({ probe }) => probe?.reason ?? "-" },
];

const showPool = (pool: HealthView): string => {
  const { monitor } = pool;
  const probing = monitor
    ? `probe ${monitor.type} every ${monitor.interval}s (rise=${monitor.rise} fall=${monitor.fall})`
    : "no health monitor";
  const rows = pool.members.flatMap((member): Row[] =>
    member.nodes.length === 0 ? [{ member, probe: undefined }] : member.nodes.map((probe) => ({ member, probe })),
  );
  const several = pool.members.some((m) => m.nodes.length > 1);
  return [
    `pool ${pool.pool} (id ${pool.poolId}) of ${pool.loadBalancer}: ${pool.slots} slots, ${probing}`,
    `layout digest: ${pool.digest}`,
    "",
    table(rows, several ? [NODE_COLUMN, ...COLUMNS] : COLUMNS),
  ].join("\n");
};

const setter = (name: "drain" | "enable", summary: string, done: string): Command => ({
  name,
  summary,
  usage: "MEMBER [--json] [--server URL]",
  options: CLIENT_OPTIONS,
  optionHelp: CLIENT_OPTION_HELP,
  examples: [`lbctl ${name} be1`, `lbctl ${name} web/be1`],
  operands: [1, 1],
  run: async (call) => {
    const [which] = call.positionals;
    const member = await post<MemberHealthView>(call, `/v1/members/${encodeURIComponent(which as string)}/${name}`);
    const text = `member ${member.name} (${member.address}) ${done}; its state is ${member.state}`;
    call.io.out(call.values["json"] ? JSON.stringify(member, null, 2) : text);
    return 0;
  },
});

export const healthCommands: readonly Command[] = [
  inspector<readonly HealthView[]>({
    name: "health",
    summary: "health of the members, as the probes find it",
    usage: "[POOL]",
    operands: [0, 1],
    examples: ["lbctl health", "lbctl health web --json | jq .[0].members[].state"],
    path: (call) => {
      const [pool] = call.positionals;
      return pool === undefined ? "/v1/health" : `/v1/health?pool=${encodeURIComponent(pool)}`;
    },
    show: (pools) => pools.map(showPool).join("\n\n") || "no pools",
  }),
  setter("drain", "give a member no new connections; probes go on", "gets no new connections"),
  setter("enable", "end a member's draining", "serves as its health allows"),
];
