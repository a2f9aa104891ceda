import { expect, test } from "vitest";
import { refusalOf } from "../../controller/refuse.ts";
import { buildEchoFrame, buildTcpFrame, buildUdpFrame } from "../../openflow/packet/build.ts";
import { describePacket } from "../../openflow/packet/describe.ts";
import { parseEthernet } from "../../openflow/packet/ethernet.ts";
import { parseIpv4 } from "../../openflow/packet/ipv4.ts";
import { parseTcp, TCP_FLAG } from "../../openflow/packet/tcp.ts";

const path = { srcMac: 0x02_00_00_00_05_0d, dstMac: 0x02_42_c0_a8_05_14, src: 0xc0a8050d, dst: 0xc0a80515 };
const { syn: SYN, ack: ACK, fin: FIN, rst: RST } = TCP_FLAG;
const segment = (flags: number, payload = "", ack = 0): Buffer =>
  buildTcpFrame(path, {
    srcPort: 40_000,
    dstPort: 80,
    seq: 0xffff_ffff,
    ack,
    flags,
    window: 100,
    urgent: 0,
    options: new Uint8Array(0),
    payload: Buffer.from(payload),
  });
const tcpOf = (frame: Buffer | undefined) => {
  const link = frame && parseEthernet(frame);
  const packet = link && parseIpv4(link.payload);
  return packet && parseTcp(packet.payload);
};

test.each([
  ["SYN", segment(SYN), { flags: RST | ACK, seq: 0, ack: 0 }],
  ["data without ACK", segment(0, "abc"), { flags: RST | ACK, seq: 0, ack: 2 }],
  ["FIN without ACK", segment(FIN), { flags: RST | ACK, seq: 0, ack: 0 }],
  ["segment of a connection", segment(ACK, "abc", 77), { flags: RST, seq: 77, ack: 0 }],
])("a %s is reset with the numbers that its sender believes", (_what, frame, expected) => {
  const answer = refusalOf(frame);
  expect(tcpOf(answer)).toMatchObject({ srcPort: 80, dstPort: 40_000, ...expected });
  expect(describePacket(answer!)).toMatchObject({
    ipSrc: "192.168.5.21",
    ipDst: "192.168.5.13",
    ethSrc: "02:42:c0:a8:05:14",
    ethDst: "02:00:00:00:05:0d",
    l4ChecksumOk: true,
  });
});

test("a datagram is answered by port unreachable, which quotes it", () => {
  const answer = refusalOf(buildUdpFrame(path, { srcPort: 1, dstPort: 53, payload: Buffer.from("x") }));
  expect(describePacket(answer!)).toMatchObject({ ipSrc: "192.168.5.21", icmpType: 3, icmpCode: 3 });
});

test("resets, pings and what is no packet are not answered", () => {
  expect(refusalOf(segment(RST))).toBeUndefined();
  expect(refusalOf(segment(RST | ACK))).toBeUndefined();
  expect(refusalOf(buildEchoFrame(path, { kind: "echo", id: 1, sequence: 1, data: Buffer.alloc(0) }))).toBeUndefined();
  expect(refusalOf(Buffer.alloc(10))).toBeUndefined();
});
