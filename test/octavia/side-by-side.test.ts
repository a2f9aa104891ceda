import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newWorld, octaviaApp } from "../support/octavia-app.ts";
import { python } from "../support/python.ts";
import { differences, wordsOf } from "./compare.ts";
import { type Step, scenario } from "./scenario.ts";

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** One of the two services, with the ids it gave. */
interface Service {
  readonly base: string;
  readonly ids: Map<string, string>;
}

const fill = (text: string, ids: ReadonlyMap<string, string>): string =>
  text.replace(/\$([a-z]+)/g, (_whole, name: string) => ids.get(name) ?? `no-${name}`);

const ask = async (service: Service, step: Step): Promise<Answer> => {
  const { body } = step;
  const answer = await fetch(`${service.base}/v2.0/lbaas/${fill(step.path, service.ids)}`, {
    method: step.method,
    headers: {
      accept: "application/json",
      "x-project-id": "demo",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: fill(JSON.stringify(body), service.ids) }),
  });
  const text = await answer.text();
  const value: unknown = text === "" ? undefined : JSON.parse(text);
  if (step.save !== undefined && answer.status < 300) {
    const [object] = Object.values(value as Record<string, { readonly id: string }>);
    service.ids.set(step.save, object!.id);
  }
  return { status: answer.status, body: value };
};

describe.skipIf(!python.has("octavia.api.app"))("beside the real Octavia", () => {
  let reference: ChildProcess;
  let folder: string;
  let close: () => Promise<void>;
  let theirs: Service;
  let ours: Service;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "octavia-"));
    const script = new URL("../support/octavia_reference.py", import.meta.url).pathname;
    reference = spawn(python.path, [script, folder], { stdio: ["ignore", "pipe", "inherit"] });
    const port = await new Promise<string>((resolve, reject) => {
      reference.stdout!.once("data", (line: Buffer) => resolve(line.toString().trim()));
      reference.once("exit", (code) => reject(new Error(`the reference ended with ${code}`)));
    });
    theirs = { base: `http://127.0.0.1:${port}`, ids: new Map() };
    const app = await octaviaApp(newWorld());
    ours = { base: await app.listen({ host: "127.0.0.1", port: 0 }), ids: new Map() };
    close = () => app.close();
  }, 60_000);

  afterAll(async () => {
    reference?.kill("SIGKILL");
    await close?.();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [n, step] of scenario.entries()) {
    it(`${n + 1} ${step.method} ${step.path}: ${step.what}`, async () => {
      const [real, own] = [await ask(theirs, step), await ask(ours, step)];
      if (step.ours !== undefined) {
        expect(own.status, step.ours.why).toBe(step.ours.status);
        expect(real.status, "there is no difference any more").not.toBe(own.status);
        // What we refuse and they do not must not be in the way of later steps.
        const made = Object.values((real.status === 201 ? real.body : {}) as Record<string, { id?: string }>)[0]?.id;
        if (made !== undefined) {
          const path = step.path.split("?")[0]!;
          await ask(theirs, { what: "", method: "DELETE", path: `${path}/${made}` });
        }
        return;
      }
      expect(own.status, JSON.stringify([real.body, own.body])).toBe(real.status);
      if (real.status < 400) expect(differences(real.body, own.body)).toEqual([]);
      else if (step.wording === undefined) expect(wordsOf(own.body)).toBe(wordsOf(real.body));
      else expect(wordsOf(own.body)).not.toBe(wordsOf(real.body));
    });
  }
});
