import { spawn } from "node:child_process";
import { cpSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HealthView, PlanView } from "../../controller/api/views.ts";
import { describePacket, type PacketDescription } from "../../openflow/packet/describe.ts";
import { readPcap } from "../../openflow/packet/pcap.ts";
import { createBalancer } from "../../src/lab/balancer.ts";
import { type Daemon, type DaemonOptions, startDaemon, waitSteady } from "../../src/lab/daemon.ts";
import { down, type Lab, up } from "../../src/lab/lab.ts";
import { patience, slowness } from "../../src/lab/patience.ts";
import { attempt } from "../../src/lab/shell.ts";
import type { HostName } from "../../src/lab/topology.ts";

/** A lab with the controller on it, programmed. */
export interface NodeUnderTest {
  readonly lab: Lab;
  daemon: Daemon;
  /** GETs a path of the native API. */
  api<T>(path: string): Promise<T>;
  /** Kills the controller with -9 and starts it again on the same addresses, with more arguments where given. */
  restartController(args?: readonly string[]): Promise<void>;
  end(): Promise<void>;
}

/**
 * Starts lab NAME and the controller, with the lab's load balancer unless there is a topology file that may have its own,
 * and waits until the switch is programmed and every member has been judged.
 */
export async function startNode(name: string, options: Partial<DaemonOptions> = {}): Promise<NodeUnderTest> {
  const lab = await up({ name });
  try {
    const http = `127.0.0.1:${await freePort()}`;
    const daemon = await startDaemon(lab, { http, ...options });
    await lab.setController(daemon.target);
    if (options.config === undefined) await createBalancer(daemon.web);
    await waitSteady(daemon.web, 20_000);
    const node: NodeUnderTest = {
      lab,
      daemon,
      api: async (path) => {
        const response = await fetch(new URL(path, node.daemon.web), { signal: AbortSignal.timeout(patience(10_000)) });
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        return (await response.json()) as never;
      },
      restartController: async (args) => {
        await node.daemon.kill();
        const port = Number(node.daemon.target.split(":").at(-1));
        node.daemon = await startDaemon(lab, { http, openflowPort: port, ...options, ...(args ? { args } : {}) });
      },
      end: async () => {
        await node.daemon.stop().catch(() => undefined);
        keepArtefacts(lab);
        await down({ name });
      },
    };
    await eventually("every member's health is known", 20_000, async () => {
      const members = (await node.api<readonly HealthView[]>("/v1/health")).flatMap((p) => p.members);
      return members.length === 0 || members.some((m) => m.state === "unknown") ? undefined : true;
    });
    await waitSteady(daemon.web, 20_000);
    if (options.config === undefined) {
      // The switch may have been steady before the load balancer was there, and members come one by one.
      await eventually("every member serves", 20_000, async () => {
        const members = (await node.api<readonly HealthView[]>("/v1/health")).flatMap((p) => p.members);
        const plans = await node.api<readonly PlanView[]>("/v1/plan");
        const done = plans.every((p) => p.error === null && p.operations.length === 0);
        return done && members.every((m) => m.state === "up") ? true : undefined;
      });
    }
    return node;
  } catch (e) {
    keepArtefacts(lab);
    await down({ name });
    throw e;
  }
}

/** What `lbctl` prints about a node, run as a program. @throws Error with what it says when it fails */
export async function lbctl(node: NodeUnderTest, ...args: readonly string[]): Promise<string> {
  const program = new URL("../../src/lbctl.ts", import.meta.url).pathname;
  const argv = [process.execPath, "--import", "tsx", program, ...args];
  const { code, stdout, stderr } = await attempt(argv, { env: { LBCTL_SERVER: node.daemon.web } });
  if (code !== 0) throw new Error(`lbctl ${args.join(" ")}: ${code} ${stderr}`);
  return stdout;
}

/** Copies the lab's logs and captures to the folder OFLB_ARTEFACTS, if there is one: the lab's own folder goes with it. */
function keepArtefacts(lab: Lab): void {
  const folder = process.env["OFLB_ARTEFACTS"];
  if (folder === undefined) return;
  const wanted = /\.(log|pcap)$/;
  cpSync(lab.root, join(folder, lab.name), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || wanted.test(path),
  });
}

/** A TCP port of loopback that nobody has now. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === "object" ? address.port : 0));
    });
  });
}

/** Frames of a capture file, described. */
export function packets(path: string): PacketDescription[] {
  const file = readPcap(readFileSync(path));
  if (!file) throw new Error(`${path} is no capture file`);
  return file.packets.flatMap((p) => describePacket(p.bytes) ?? []);
}

export interface LoadReport {
  readonly sent: number;
  readonly ok: number;
  readonly failed: number;
  readonly failures: readonly string[];
  readonly backends: Readonly<Record<string, number>>;
}

/**
 * A steady load from a host, of fewer requests where the machine is slower; `finish` ends it early and reports. Bounded
 * by `seconds` (see {@link patience}) in any case.
 */
export async function startLoad(
  lab: Lab,
  host: HostName,
  url: string,
  perSecond: number,
  seconds: number,
): Promise<{ finish(): Promise<LoadReport> }> {
  const script = new URL("./load.mjs", import.meta.url).pathname;
  const argv = [
    "netns",
    "exec",
    lab.namespace(host),
    process.execPath,
    script,
    url,
    String(perSecond / slowness),
    String(patience(seconds)),
  ];
  const child = spawn("ip", argv, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    output += text;
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  while (!output.includes("started")) await sleep(10);
  return {
    finish: async () => {
      child.kill("SIGTERM");
      await ended;
      return JSON.parse(output.slice(output.indexOf("{"))) as LoadReport;
    },
  };
}

/** Waits until `check` gives something other than undefined; fails with `what` after `ms` (see {@link patience}). */
export async function eventually<T>(what: string, ms: number, check: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + patience(ms);
  for (;;) {
    const value = await check();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`not within ${patience(ms)} ms: ${what}`);
    await sleep(patience(50));
  }
}
