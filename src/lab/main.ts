import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createBalancer, curlPreamble } from "./balancer.ts";
import { AlreadyRunningError, refuseIfRunning } from "./cleanup.ts";
import { currentDaemon, type Daemon, requireFreePort, startDaemon, waitSteady } from "./daemon.ts";
import { requireNone, showBalancing, showPings } from "./demo.ts";
import { down, type Lab, up } from "./lab.ts";
import { type DatapathType, defaultDatapath, ovsVersion, parseDatapath } from "./ovs.ts";
import { LabError } from "./shell.ts";
import { labRoot } from "./state.ts";
import { checkLine, summaryLine } from "./verify/check.ts";
import { verify } from "./verify/run.ts";

const usage = `npm run lab [-- OPTIONS]         start the lab, show balanced requests, stay until Ctrl-C
npm run lab -- --once [OPTIONS]  the same, then check, tear down, and exit with 0 or 1
npm run lab -- down [OPTIONS]    remove a lab that was left behind

  --verify             with --once: then run all checks of the running lab, as lbctl verify does
  --name NAME          several labs may run side by side (default: lab)
  --datapath TYPE      netdev (userspace, default) or system (the kernel's openvswitch module)
  --http HOST:PORT     API and web page (default: 127.0.0.1:9876)
  --help`;

const options = {
  once: { type: "boolean", default: false },
  verify: { type: "boolean", default: false },
  name: { type: "string", default: "lab" },
  datapath: { type: "string" },
  http: { type: "string", default: "127.0.0.1:9876" },
  help: { type: "boolean", short: "h", default: false },
} as const;

type Options = ReturnType<typeof readArguments>["values"];

function readArguments() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new LabError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

/** Fulfilled at the first signal that asks for an end; npm passes a Ctrl-C on, so the same one may come twice. */
const interrupted = new Promise<void>((resolve) => {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => resolve());
});
let stopping = false;
void interrupted.then(() => {
  stopping = true;
});

async function main(): Promise<number> {
  const { values, positionals } = readArguments();
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const [command] = positionals;
  if (command === "down") {
    console.log((await down(values)) ? `lab "${values.name}" is removed` : `there is no lab "${values.name}"`);
    return 0;
  }
  if (command !== undefined) throw new LabError(`unknown command "${command}"\n${usage}`);
  if (values.verify && !values.once) {
    throw new LabError("--verify goes with --once; for a lab that stays up: npm run -s lbctl -- verify");
  }
  const datapath = values.datapath === undefined ? defaultDatapath() : parseDatapath(values.datapath, "--datapath");
  return start(values, datapath);
}

async function start(values: Options, datapath: DatapathType): Promise<number> {
  let lab: Lab;
  try {
    // In this order: the lab that runs already has the port, too.
    refuseIfRunning(labRoot(values.name));
    await requireFreePort(values.http);
    const version = await ovsVersion();
    lab = await up({ name: values.name, datapath });
    console.log(`private Open vSwitch ${version}, ${datapathText[datapath]}; ${lab.hosts.length} hosts`);
  } catch (error) {
    if (stopping) return 130;
    if (!(error instanceof AlreadyRunningError) || values.once) throw error;
    console.log(`${error.message}${error.web === undefined ? "" : `: ${error.web}`}`);
    console.log(`end it with Ctrl-C in its terminal or with: npm run lab -- down${nameOption(values)}`);
    return 0;
  }
  try {
    await Promise.race([run(lab, values), interrupted]);
    return stopping && values.once ? 130 : 0;
  } catch (error) {
    // What Ctrl-C breaks is not a failure of the lab.
    if (stopping) return 130;
    throw error;
  } finally {
    console.log(`\nremoving the lab`);
    await down({ name: values.name });
  }
}

async function run(lab: Lab, values: Options): Promise<void> {
  const daemon = await startDaemon(lab, { http: values.http });
  await lab.setController(daemon.target);
  console.log(`controller at ${daemon.target}, API and web page at ${daemon.web}\n\nthe load balancer is made by`);
  const show = (lines: readonly string[]) => console.log(lines.map((line) => `  ${line}`).join("\n"));
  show(curlPreamble(daemon.web));
  await createBalancer(daemon.web, show);
  await waitSteady(daemon.web, 60_000);
  const problems = [...(await showBalancing(lab)), ...(await showPings(lab))];
  if (values.once) {
    requireNone(problems);
    console.log("all backends served all clients, no request failed, every client address was kept");
    if (values.verify) await verifyLab(lab);
    return;
  }
  console.log(`\n${hints(lab, daemon)}`);
  await watch(lab);
}

/** @throws LabError when a check fails. */
async function verifyLab(lab: Lab): Promise<void> {
  console.log("");
  const report = await verify(lab, {
    onGroup: ({ name, about }) => console.log(`${name}: ${about}`),
    onResult: (result) => console.log(checkLine(result)),
  });
  console.log(summaryLine(report));
  requireNone(report.results.filter(({ ok }) => !ok).map((result) => `${result.group}:${checkLine(result)}`));
}

const datapathText: Readonly<Record<DatapathType, string>> = {
  netdev: "userspace datapath (netdev)",
  system: "kernel datapath (system)",
};

function hints(lab: Lab, daemon: Daemon): string {
  const onHost = (host: "client" | "cli2" | "be1", command: string) =>
    `  ip netns exec ${lab.namespace(host)} ${command}`;
  return [
    `Web page: ${daemon.web}`,
    "To try in another terminal, as root:",
    onHost("client", "curl -s http://192.168.5.21/"),
    onHost("cli2", "curl -s http://10.20.0.100/"),
    onHost("client", "ping 192.168.5.20"),
    ...["health", "slots", "fdb", "neigh", "flows"].map((command) => `  npm run -s lbctl -- ${command}`),
    "  npm run -s lbctl -- trace 192.168.5.13 192.168.5.21:80",
    `  OVS_RUNDIR=${lab.ovs.env["OVS_RUNDIR"]} npm run -s lbctl -- conns`,
    `  npm run -s lbctl -- verify${lab.name === "lab" ? "" : ` --lab ${lab.name}`}`,
    "To capture on a host, or on a port of the switch:",
    onHost("be1", "tcpdump -ni eth0"),
    `  ip netns exec ${lab.namespace("ovs")} tcpdump -ni pub0 -w /tmp/pub0.pcap`,
    "To ask the switch itself:",
    `  OVS_RUNDIR=${lab.ovs.env["OVS_RUNDIR"]} ovs-ofctl -O OpenFlow13 dump-flows ${lab.bridge}`,
    `Logs: ${lab.root}/log/`,
    "Ctrl-C removes the lab.",
  ].join("\n");
}

/** Stays for good. A controller that ends is worth a word, not the end of the lab: the switch goes on without it. */
async function watch(lab: Lab): Promise<never> {
  // The controller may be another one in between: `lbctl verify` restarts it.
  let daemon = currentDaemon(lab);
  for (let missed = 0; missed < 6; missed = daemon.isAlive() ? 0 : missed + 1) {
    await sleep(500);
    daemon = currentDaemon(lab);
  }
  if (!stopping) {
    console.log(`the controller has ended (log: ${daemon.log}); the switch goes on with its flows. To start it again:`);
    console.log(`  ${daemon.command}`);
  }
  // A promise alone would not keep the process, and with it the lab.
  for (;;) await sleep(60_000);
}

function nameOption({ name }: Options): string {
  return name === "lab" ? "" : ` --name ${name}`;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof LabError)) throw error;
  console.error(`lab: ${error.message}`);
  process.exitCode = 1;
}
// The signal handlers and a waiting `watch` would keep the process.
process.exit();
