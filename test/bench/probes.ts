/**
 * `npm run bench -- --only probes`: what 200 members cost that are probed by TCP every 2 s, as a part of one core. The members are in
 * this process, and what they cost is counted too; the frames' way through OpenFlow messages is counted at the end.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { decode, encode } from "../../openflow/codec.ts";
import { Port } from "../../openflow/messages/port.ts";
import { ProbeNet, probedTopology } from "../support/probe-net.ts";

const MEMBERS = 200;
const WARM_UP_MS = 4_000;
const MEASURED_MS = 20_000;

const cpuMs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

const net = new ProbeNet();
net.checker.setTopology(probedTopology(MEMBERS));
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
  decode(encode({ type: "packet_out", xid: 1, bufferId: 0xffff_ffff, inPort: Port.controller, actions, data: bytes }));
}
const codec = cpuMs(beforeCodec);
const failed = net.results.filter((r) => !r.ok).length;
const seconds = (elapsed / 1000).toFixed(1);
console.log(
  `${MEMBERS} members, a TCP probe every 2 s: ${net.results.length} probes in ${seconds} s, ${failed} failed`,
);
console.log(`CPU time: probes ${probing.toFixed(0)} ms, messages ${codec.toFixed(0)} ms`);
console.log(`= ${((100 * (probing + codec)) / elapsed).toFixed(2)} % of one core`);
