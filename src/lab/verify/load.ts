import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Lab } from "../handle.ts";
import { LabError, toolPath } from "../shell.ts";
import type { HostName } from "../topology.ts";

const script = fileURLToPath(new URL("./load.mjs", import.meta.url));

export interface LoadReport {
  /** Requests with a connection of their own. */
  readonly sent: number;
  /** When each failed one was sent, ms since 1970, and why it failed. */
  readonly failures: readonly { readonly at: number; readonly error: string }[];
  readonly backends: Readonly<Record<string, number>>;
  /** Connections that carried one request after the other. */
  readonly kept: readonly KeptConnection[];
}

interface KeptConnection {
  /** Everyone who answered on it; one, unless something is wrong. */
  readonly backends: readonly string[];
  readonly answers: number;
  /** What ended it early; null for one that lives. */
  readonly error: string | null;
  /** Time of the last answer, ms since 1970. */
  readonly lastAt: number;
}

export interface Load {
  /** Ends the load and tells how it went; the same again when it has been ended. */
  finish(): Promise<LoadReport>;
}

/**
 * Starts requests from a host: so many new connections a second, and connections that are kept. Fewer on a slow machine,
 * as many as are the same burden for it (see patience.ts).
 */
export async function startLoad(
  lab: Lab,
  host: HostName,
  url: string,
  { perSecond = 0, kept = 0 }: { readonly perSecond?: number; readonly kept?: number },
): Promise<Load> {
  const argv = ["netns", "exec", lab.namespace(host), process.execPath, script, url, `${perSecond}`, `${kept}`];
  const child = spawn("ip", argv, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, PATH: toolPath } });
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    output += text;
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  while (!output.includes("started")) {
    if (child.exitCode !== null) throw new LabError(`the load from ${host} ended at once`);
    await sleep(10);
  }
  return {
    async finish() {
      child.kill("SIGTERM");
      await ended;
      return JSON.parse(output.slice(output.indexOf("{"))) as LoadReport;
    },
  };
}

/** Kept connections that broke or were answered by more than one backend. */
export function brokenKept(report: LoadReport): readonly string[] {
  return report.kept
    .filter(({ error, backends }) => error !== null || backends.length > 1)
    .map(({ error, backends }) => `${backends.join("+") || "nobody"}: ${error ?? "moved"}`);
}
