/**
 * `npm run bench -- --only probes`: what 200 members cost that are probed by TCP or HTTP every 2 s, as a part of one core. The members
 * are in this process, and what they cost is counted too; the frames' way through OpenFlow messages is counted at the end.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { decode, encode } from "../../openflow/codec.ts";
import { Port } from "../../openflow/messages/port.ts";
import type { HealthMonitor } from "../../pipeline/model.ts";
import { ProbeNet, probedTopology, tcpMonitor } from "../support/probe-net.ts";

const MEMBERS = 200;
const WARM_UP_MS = 4_000;
const MEASURED_MS = 20_000;

const httpMonitor: HealthMonitor = {
  ...tcpMonitor,
  type: "http",
  http: { method: "GET", path: "/health", version: "1.1", expectedCodes: [{ first: 200, last: 200 }] },
};
const page = Buffer.from("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n");

const cpuMs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

const measure = async (monitor: HealthMonitor): Promise<void> => {
  const net = new ProbeNet();
  net.response = page;
  net.checker.setTopology(probedTopology(MEMBERS, monitor));
  net.checker.setConnected(true);
  await sleep(WARM_UP_MS);
  net.results.length = 0;
  net.sent.length = 0;
  const before = process.cpuUsage();
  const began = performance.now();
  await sleep(MEASURED_MS);
  const elapsed = performance.now() - began;
  const probing = cpuMs(before);
  net.checker.stop();

  const beforeCodec = process.cpuUsage();
  for (const { bytes } of net.sent) {
    const actions = [{ kind: "output", port: 10, maxLen: 0 }] as const;
    decode(
      encode({ type: "packet_out", xid: 1, bufferId: 0xffff_ffff, inPort: Port.controller, actions, data: bytes }),
    );
  }
  const codec = cpuMs(beforeCodec);
  const failed = net.results.filter((r) => !r.ok).length;
  const by = `${net.results.length} ${monitor.type} probes in ${(elapsed / 1000).toFixed(1)} s, ${failed} failed`;
  const cost = `${probing.toFixed(0)} ms, OpenFlow messages ${codec.toFixed(0)} ms of CPU time`;
  console.log(`${MEMBERS} members every 2 s: ${by}; probes ${cost}`);
  console.log(`= ${((100 * (probing + codec)) / elapsed).toFixed(2)} % of one core`);
};

for (const monitor of [tcpMonitor, httpMonitor]) await measure(monitor);
