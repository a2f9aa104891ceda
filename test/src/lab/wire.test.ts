import { expect, test } from "vitest";
import { cutShort, type Seen, tcp } from "../../../src/lab/verify/wire.ts";

const segment = (side: "client" | "server", tcpFlags: number, port = 40_000): Seen => {
  const client = { ip: "192.168.5.13", port };
  const server = { ip: "192.168.5.21", port: 80 };
  const [from, to] = side === "client" ? [client, server] : [server, client];
  return { ipSrc: from.ip, tcpSrc: from.port, ipDst: to.ip, tcpDst: to.port, tcpFlags } as Seen;
};
const finAck = tcp.fin | tcp.ack;
const opened = [segment("client", tcp.syn), segment("server", tcp.synAck), segment("client", tcp.ack)];
const closed = [segment("server", finAck), segment("client", finAck)];

test("a reset counts while a side has not ended the connection", () => {
  const reset = segment("client", tcp.rst);
  expect(cutShort([...opened, reset])).toEqual([reset]);
  expect(cutShort([...opened, segment("server", finAck), reset])).toEqual([reset]);
  expect(cutShort([...opened, ...closed, reset])).toEqual([]);
});

test("a reset counts in the next connection from the same port, and in others", () => {
  const refused = segment("server", tcp.rst | tcp.ack);
  expect(cutShort([...opened, ...closed, segment("client", tcp.syn), refused])).toEqual([refused]);
  const other = segment("server", tcp.rst, 40_001);
  expect(cutShort([...opened, ...closed, other])).toEqual([other]);
});
