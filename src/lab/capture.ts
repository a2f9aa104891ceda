import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { LabError, toolPath } from "./shell.ts";

export interface Capture {
  /** The file, in classic pcap format; complete once `stop` is done. */
  readonly path: string;
  stop(): Promise<void>;
}

export interface CaptureOptions {
  readonly namespace: string;
  readonly link: string;
  readonly path: string;
  /** A pcap-filter(7) expression; everything is captured without one. */
  readonly filter?: string;
}

/**
 * Captures whole frames with tcpdump, from the moment the returned promise is fulfilled.
 *
 * tcpdump writes to a file that is opened here, since it gives up root's rights before it opens one itself, and
 * AppArmor profiles allow it few places.
 */
export async function startCapture({ namespace, link, path, filter }: CaptureOptions): Promise<Capture> {
  const program = "ip";
  const argv = ["netns", "exec", namespace, "tcpdump", "-n", "-i", link, "-U", "-s", "0", "--immediate-mode"];
  const fd = openSync(path, "w");
  const child = spawn(program, [...argv, "-w", "-", ...(filter === undefined ? [] : [filter])], {
    stdio: ["ignore", fd, "pipe"],
    env: { ...process.env, PATH: toolPath },
  });
  closeSync(fd);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let said = "";
  child.stderr?.setEncoding("utf8");
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (text: string) => {
      said += text;
      if (said.includes("listening on")) resolve();
    });
    child.once("error", (error) => reject(new LabError(`cannot start tcpdump: ${error.message}`)));
    child.once("close", () => reject(new LabError(`tcpdump: ${said.trim()}`)));
  });
  /** Asks tcpdump whether it has written all that the interface gave it; on a busy machine it lags behind. */
  const hasAll = async (): Promise<boolean> => {
    const before = said.length;
    child.kill("SIGUSR1");
    for (let waited = 0; waited < 100; waited++) {
      const counts = /(\d+) packets? captured, (\d+) packets? received by filter, (\d+) packets? dropped/.exec(
        said.slice(before),
      );
      if (counts !== null) return Number(counts[1]) >= Number(counts[2]) - Number(counts[3]);
      await sleep(10);
    }
    return true;
  };
  return {
    path,
    async stop() {
      // The last frame may still be on its way from the interface to tcpdump.
      await sleep(50);
      for (let tries = 0; tries < 100 && child.exitCode === null && !(await hasAll()); tries++) await sleep(20);
      child.kill("SIGINT");
      await ended;
    },
  };
}
