import { buildTcpFrame, type Path } from "../../openflow/packet/build.ts";
import { TCP_FLAG } from "../../openflow/packet/tcp.ts";

/** Both ends of a TCP connection. */
export interface TcpPath extends Path {
  readonly srcPort: number;
  readonly dstPort: number;
}

const NOTHING = new Uint8Array(0);

const frame = (path: TcpPath, seq: number, ack: number, flags: number, payload: Uint8Array): Buffer =>
  buildTcpFrame(path, {
    srcPort: path.srcPort,
    dstPort: path.dstPort,
    seq,
    ack,
    flags,
    window: 0xffff,
    urgent: 0,
    options: NOTHING,
    payload,
  });

export const tcpSyn = (path: TcpPath, seq: number): Buffer => frame(path, seq, 0, TCP_FLAG.syn, NOTHING);

export const tcpData = (path: TcpPath, seq: number, ack: number, payload: Uint8Array): Buffer =>
  frame(path, seq, ack, TCP_FLAG.ack | TCP_FLAG.psh, payload);
