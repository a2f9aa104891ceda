import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "../../src/lab/patience.ts";

const lbctl = new URL("../../src/lbctl.ts", import.meta.url).pathname;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
};

/** `lbctl serve` as a process of its own, without a switch, with a topology file that the test may edit. */
export interface Served {
  /** Such as http://127.0.0.1:12345 */
  readonly url: string;
  /** Path of the topology file. */
  readonly config: string;
  /** What the process has logged so far. */
  log(): string;
  /** Sends SIGHUP. */
  reload(): void;
  /** Ends the process, and starts it again on the same folder. */
  restart(): Promise<void>;
  end(): Promise<void>;
}

export const serve = async (topology: string): Promise<Served> => {
  const folder = mkdtempSync(join(tmpdir(), "lbctl-serve-"));
  const config = join(folder, "topology.yaml");
  writeFileSync(config, topology);
  const http = `127.0.0.1:${await freePort()}`;
  const url = `http://${http}`;
  let log = "";
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    const listen = `127.0.0.1:${await freePort()}`;
    const args = ["serve", "--config", config, "--data", join(folder, "data"), "--listen", listen, "--http", http];
    const own = spawn(process.execPath, ["--import", "tsx", lbctl, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    child = own;
    for (const stream of [own.stdout, own.stderr]) {
      stream.on("data", (data: Buffer) => {
        log += data.toString();
      });
    }
    const until = Date.now() + patience(30_000);
    for (;;) {
      const answer = await fetch(`${url}/healthz`).catch(() => undefined);
      if (answer?.ok) return;
      if (own.exitCode !== null || Date.now() > until) throw new Error(`lbctl serve did not start: ${log}`);
      await sleep(50);
    }
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  };
  await start();
  return {
    url,
    config,
    log: () => log,
    reload: () => void child.kill("SIGHUP"),
    restart: async () => {
      await stop();
      await start();
    },
    end: async () => {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
};
