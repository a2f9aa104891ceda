import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { patience } from "./patience.ts";
import { listensOn, type ProcessRef, signal, startDetached, waitGone } from "./processes.ts";
import { LabError } from "./shell.ts";
import { backendPort } from "./topology.ts";

const script = fileURLToPath(new URL("./backend.mjs", import.meta.url));

/** How a backend answers from now on; without fields: at once, with status 200. */
interface BackendBehaviour {
  readonly status?: number;
  readonly delayMs?: number;
}

/** The web service of one host. */
export interface Backend {
  start(): Promise<void>;
  /** `kill -9`: connections are reset, the port is closed. */
  kill(): Promise<void>;
  /** SIGSTOP: the kernel still accepts connections, nobody answers. */
  pause(): void;
  resume(): void;
  behave(behaviour: BackendBehaviour): void;
}

export function backend(name: string, namespace: string, root: string): Backend {
  const behaviourFile = join(root, `${name}.json`);
  let current: ProcessRef | undefined;
  const send = (what: NodeJS.Signals) => {
    if (current === undefined || !signal(current, what)) throw new LabError(`backend ${name} is not running`);
  };
  return {
    async start() {
      const argv = ["ip", "netns", "exec", namespace, process.execPath, script, name, `${backendPort}`, behaviourFile];
      rmSync(behaviourFile, { force: true });
      const started = await startDetached(argv, join(root, "log", `${name}.log`));
      current = started;
      await listening(started, name);
    },
    async kill() {
      const ref = current;
      send("SIGKILL");
      if (ref !== undefined) await waitGone(ref, 5000);
    },
    pause: () => send("SIGSTOP"),
    resume: () => send("SIGCONT"),
    behave: (behaviour) => writeFileSync(behaviourFile, JSON.stringify(behaviour)),
  };
}

async function listening(ref: ProcessRef, name: string): Promise<void> {
  for (const deadline = Date.now() + patience(30_000); !listensOn(ref, backendPort); await sleep(20)) {
    if (Date.now() > deadline) throw new LabError(`backend ${name} does not listen on port ${backendPort}`);
  }
}
