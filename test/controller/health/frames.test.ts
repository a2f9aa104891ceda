import { describe, expect, test } from "vitest";
import { authorityOf, probeFrame, readAnswer, resetFrame } from "../../../controller/health/frames.ts";
import { buildEchoFrame, buildTcpFrame, buildUdpFrame } from "../../../openflow/packet/build.ts";
import { describePacket } from "../../../openflow/packet/describe.ts";
import { icmpErrorFrame } from "../../../openflow/packet/icmp-error.ts";
import { TCP_FLAG } from "../../../openflow/packet/tcp.ts";
import { probeTargets } from "../../../pipeline/probe-target.ts";
import { probedTopology, tcpMonitor } from "../../support/probe-net.ts";
import { ip, mac } from "../../support/topology.ts";

const target = probeTargets(probedTopology(1))[0]!;
const MAC = mac("02:00:00:14:00:02");
const nothing = new Uint8Array(0);
const back = { srcMac: MAC, dstMac: target.segment.gateway.mac, src: target.ip, dst: target.source };
const common = {
  ethSrc: "02:42:0a:14:00:01",
  ethDst: "02:00:00:14:00:02",
  ipSrc: "10.20.0.253",
  ipDst: "10.20.0.2",
  ipTtl: 64,
  ipDontFragment: true,
  ipChecksumOk: true,
  l4ChecksumOk: true,
};
const tcp = (flags: number, payload: Uint8Array = nothing) =>
  probeFrame(target, MAC, 50_000, { kind: "tcp", segment: { flags, seq: 0xffff_ffff, ack: 2, payload } });

describe("probes as frames", () => {
  test.each([
    ["SYN", tcp(TCP_FLAG.syn), { tcpFlags: 0x02, tcpSeq: 0xffff_ffff, tcpPayloadLength: 0 }],
    ["data", tcp(TCP_FLAG.ack | TCP_FLAG.psh, Buffer.from("GET")), { tcpFlags: 0x18, tcpAck: 2, tcpPayloadLength: 3 }],
    ["RST", tcp(TCP_FLAG.rst), { tcpFlags: 0x04, tcpSrc: 50_000, tcpDst: 8080 }],
    ["datagram", probeFrame(target, MAC, 50_000, { kind: "udp" }), { udpSrc: 50_000, udpDst: 8080 }],
    ["ping", probeFrame(target, MAC, 50_000, { kind: "echo", sequence: 1 }), { icmpType: 8, icmpCode: 0 }],
  ])("%s", (_, frame, fields) => {
    expect(describePacket(frame)).toMatchObject({ ...common, ...fields });
  });

  test("the Host is the address, with the port unless it is HTTP's own", () => {
    const on80 = probeTargets(probedTopology(1, tcpMonitor, { port: 80 }))[0]!;
    expect([authorityOf(target), authorityOf(on80)]).toEqual(["10.20.0.2:8080", "10.20.0.2"]);
  });
});

describe("frames as answers", () => {
  test("of TCP, UDP and ping", () => {
    const ports = { srcPort: 8080, dstPort: 50_000 };
    const segment = { ...ports, seq: 1, ack: 2, flags: 0x12, window: 9, urgent: 0, options: nothing, payload: nothing };
    const where = { from: target.ip, number: 50_000 };
    expect(readAnswer(buildTcpFrame(back, segment))).toMatchObject({ ...where, port: 8080, answer: { kind: "tcp" } });
    expect(readAnswer(buildUdpFrame(back, { ...ports, payload: nothing }))).toEqual({
      ...where,
      port: 8080,
      answer: { kind: "udp" },
    });
    expect(readAnswer(buildEchoFrame(back, { kind: "echo_reply", id: 50_000, sequence: 0, data: nothing }))).toEqual({
      ...where,
      answer: { kind: "echo_reply" },
    });
  });

  test("of errors about our probes, from the member or a router on the way", () => {
    const ours = [tcp(TCP_FLAG.syn), probeFrame(target, MAC, 50_000, { kind: "udp" })];
    for (const frame of ours) {
      const error = icmpErrorFrame(frame, { type: 3, code: 3 }, { ip: ip("10.20.0.77"), mac: MAC });
      expect(error.ok && readAnswer(error.bytes)).toEqual({
        from: target.ip,
        port: 8080,
        number: 50_000,
        answer: { kind: "unreachable", code: 3 },
      });
    }
    const ping = icmpErrorFrame(
      probeFrame(target, MAC, 50_000, { kind: "echo", sequence: 0 }),
      { type: 3, code: 1 },
      { ip: ip("10.20.0.77"), mac: MAC },
    );
    expect(ping.ok && readAnswer(ping.bytes)).toEqual({
      from: target.ip,
      number: 50_000,
      answer: { kind: "unreachable", code: 1 },
    });
  });

  test("anything cut or foreign is none, and never throws", () => {
    const whole = tcp(TCP_FLAG.syn);
    for (let length = 0; length < whole.length; length++) {
      expect(readAnswer(whole.subarray(0, length))).toBeUndefined();
      expect(resetFrame(whole.subarray(0, length))).toBeUndefined();
    }
    expect(readAnswer(buildEchoFrame(back, { kind: "echo", id: 1, sequence: 0, data: nothing }))).toBeUndefined();
  });

  test("a segment of no connection is reset to where it came from; a reset is not", () => {
    const frame = resetFrame(tcp(TCP_FLAG.ack));
    expect(frame && describePacket(frame)).toMatchObject({
      ethSrc: "02:00:00:14:00:02",
      ethDst: "02:42:0a:14:00:01",
      ipSrc: "10.20.0.2",
      ipDst: "10.20.0.253",
      tcpSrc: 8080,
      tcpDst: 50_000,
      tcpFlags: TCP_FLAG.rst,
      tcpSeq: 2,
      l4ChecksumOk: true,
    });
    expect(resetFrame(tcp(TCP_FLAG.rst))).toBeUndefined();
  });
});
