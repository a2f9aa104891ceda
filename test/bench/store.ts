/**
 * `node --import tsx test/bench/store.ts`: durable member updates per second, by many clients at once, straight on the store and
 * over HTTP. The folder is opened anew at the end: what was acknowledged must be there.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFileStore } from "../../controller/store/file-store.ts";
import { memberRow } from "../controller/store/rows.ts";
import { subnets } from "../support/octavia-app.ts";

const clients = 64;
const members = 1000;
const seconds = 5;

const runClients = async (
  update: (client: number, n: number) => Promise<void>,
): Promise<{ count: number; late: number[] }> => {
  const late: number[] = [];
  const end = performance.now() + seconds * 1000;
  const loop = async (client: number): Promise<void> => {
    for (let n = client; performance.now() < end; n += clients) {
      const begin = performance.now();
      await update(client, n);
      late.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  return { count: late.length, late: late.sort((a, b) => a - b) };
};

const report = (what: string, { count, late }: { count: number; late: number[] }): void => {
  const at = (share: number): string => (late[Math.floor(late.length * share)] ?? 0).toFixed(1);
  console.log(
    `${what}: ${Math.round(count / seconds)} updates/s, ${clients} clients, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  );
};

const onTheStore = async (folder: string): Promise<void> => {
  const store = await openFileStore(folder);
  await store.transact((draft) => {
    for (let n = 0; n < members; n++) draft.put("members", memberRow(`m${n}`));
  });
  const last = new Map<string, number>();
  const result = await runClients(async (client, n) => {
    // Each client has members of its own, so that it knows what must be there in the end.
    const id = `m${((Math.floor(n / clients) % Math.floor(members / clients)) * clients + client) % members}`;
    await store.transact((draft) => draft.put("members", { ...draft.get("members", id)!, protocol_port: n }));
    last.set(id, n);
  });
  await store.close();
  const again = await openFileStore(folder);
  const lost = [...last].filter(([id, n]) => again.read().get("members", id)?.protocol_port !== n).length;
  await again.close();
  report(`store, ${members} members, ${lost} lost`, result);
};

const startServer = async (folder: string, port: number): Promise<() => Promise<void>> => {
  const script = new URL("../support/octavia-server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--import", "tsx", script, "--port", String(port), "--data", folder]);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return () =>
    new Promise((resolve) => {
      child.once("close", () => resolve());
      child.kill("SIGTERM");
    });
};

const overHttp = async (folder: string, port: number): Promise<void> => {
  const stop = await startServer(folder, port);
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const call = (method: string, path: string, body: object): Promise<Record<string, { id: string }>> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        { port, agent, method, path: `/v2.0/lbaas/${path}`, headers: { "content-type": "application/json" } },
        (answer) => {
          let text = "";
          answer.setEncoding("utf8");
          answer.on("data", (chunk: string) => {
            text += chunk;
          });
          answer.on("end", () =>
            (answer.statusCode ?? 500) < 300 ? resolve(text === "" ? {} : JSON.parse(text)) : reject(new Error(text)),
          );
        },
      );
      outgoing.on("error", reject);
      outgoing.end(JSON.stringify(body));
    });
  const lb = (await call("POST", "loadbalancers", { loadbalancer: { vip_subnet_id: subnets.front } }))["loadbalancer"]!;
  const pool = { loadbalancer_id: lb.id, protocol: "TCP", lb_algorithm: "ROUND_ROBIN" };
  const poolId = (await call("POST", "pools", { pool }))["pool"]!.id;
  const ids: string[] = [];
  for (let n = 0; n < members; n += clients) {
    const some = Array.from({ length: Math.min(clients, members - n) }, (_, i) => n + i);
    const made = await Promise.all(
      some.map((i) =>
        call("POST", `pools/${poolId}/members`, {
          member: { address: `172.16.${i >> 8}.${i & 255}`, protocol_port: 80 },
        }),
      ),
    );
    ids.push(...made.map((m) => m["member"]!.id));
  }
  const result = await runClients(async (_client, n) => {
    await call("PUT", `pools/${poolId}/members/${ids[n % members]}`, { member: { weight: n % 257 } });
  });
  agent.destroy();
  await stop();
  report(`HTTP, ${members} members in a pool`, result);
};

const folder = await mkdtemp(join(tmpdir(), "bench-store-"));
try {
  await onTheStore(join(folder, "a"));
  await overHttp(join(folder, "b"), 19_899);
} finally {
  await rm(folder, { recursive: true, force: true });
}
