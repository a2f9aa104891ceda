import { setTimeout as sleep } from "node:timers/promises";
import { balanceProblems, balanceTable, expectedBackends } from "./balance.ts";
import type { Lab } from "./lab.ts";
import { patience } from "./patience.ts";
import { LabError } from "./shell.ts";
import { virtualServices } from "./topology.ts";

const requestsPerClient = 40;
/** Seconds for the health checks to let all backends in. */
const warmUp = 30;

/**
 * Sends requests from the public client and from a client inside each private segment, and prints who answered.
 *
 * @returns what was wrong; empty when all backends answered all clients and saw their addresses.
 */
export async function showBalancing(lab: Lab): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { client, address, url } of virtualServices) {
    const cold = await warm(lab, client, url);
    const results = await lab.curl(client, url, requestsPerClient);
    const found = balanceProblems(results, address);
    console.log(`\n${requestsPerClient} requests from ${client} (${address}) to ${url}`);
    console.log(balanceTable(results));
    for (const problem of found) console.log(`WRONG: ${problem}`);
    problems.push(...found.map((problem) => `${client}: ${problem}${cold}`));
  }
  return problems;
}

/** Pings the node's own address and the public virtual address, both of which exist in flows only. */
export async function showPings(lab: Lab): Promise<readonly string[]> {
  const problems: string[] = [];
  console.log("");
  for (const [what, address] of [
    ["node", "192.168.5.20"],
    ["VIP", "192.168.5.21"],
  ] as const) {
    const { code, stdout } = await lab.attempt("client", [
      "ping",
      "-c",
      "3",
      "-i",
      "0.2",
      "-W",
      `${patience(1)}`,
      address,
    ]);
    const [, transmitted, received] = /(\d+) packets transmitted, (\d+) received/.exec(stdout) ?? [];
    console.log(`ping ${what} ${address} from client: ${received} of ${transmitted} answered`);
    if (code !== 0 || received !== transmitted)
      problems.push(`ping ${address}: ${received} of ${transmitted} answered`);
  }
  return problems;
}

/** Waits until all backends serve. Gives a remark for a failure's text when they do not. */
async function warm(lab: Lab, client: (typeof virtualServices)[number]["client"], url: string): Promise<string> {
  const seen = new Set<string>();
  for (const deadline = Date.now() + patience(warmUp) * 1000; Date.now() < deadline; await sleep(100)) {
    const results = await lab.curl(client, url, 8, { maxTime: 1 });
    for (const { ok, backend } of results) if (ok) seen.add(backend);
    if (results.every(({ ok }) => ok) && expectedBackends.every((name) => seen.has(name))) return "";
  }
  return ` (also not within ${patience(warmUp)} s of waiting)`;
}

/** @throws LabError listing the problems, if any. */
export function requireNone(problems: readonly string[]): void {
  if (problems.length > 0) throw new LabError(`the lab does not work as it should:\n  ${problems.join("\n  ")}`);
}
