import { add, compare, insert, type Piece, take } from "../../controller/health/reassembly.ts";
import type { SegmentOut } from "../../controller/health/tcp-client.ts";
import { TCP_FLAG, type TcpRepr } from "../../openflow/packet/tcp.ts";

const { syn: SYN, ack: ACK, fin: FIN, rst: RST, psh: PSH } = TCP_FLAG;

/** How the peer's application behaves once it has the whole request. */
export interface PeerScript {
  /** Bytes of the request it waits for. */
  readonly requestLength: number;
  readonly answer: Buffer;
  readonly thenClose: boolean;
  /** Largest segment it sends. */
  readonly segment: number;
  /** Window it announces. */
  readonly window: number;
}

/**
 * The server's end of one TCP connection as the RFC has it, for tests of the client: it repeats what is not confirmed,
 * whatever gets lost, and it can be asked whether it still holds a connection.
 */
export class TcpPeer {
  state: "listen" | "syn_received" | "established" | "closed" = "listen";
  request = Buffer.alloc(0);
  #script: PeerScript;
  #iss: number;
  #una: number;
  #rcvNxt = 0;
  #waiting: readonly Piece[] = [];
  #clientSyn = 0;
  #finished = false;
  #closing: boolean;

  constructor(script: PeerScript, iss: number) {
    this.#script = script;
    this.#closing = script.thenClose;
    this.#iss = iss;
    this.#una = iss;
  }

  /** The application ends its side, as servers do with a connection that is idle. */
  close(): void {
    this.#closing = true;
  }

  /** Everything it would send now, repetitions included. */
  pending(): SegmentOut[] {
    const { answer, segment } = this.#script;
    if (this.state === "syn_received") return [this.#out(SYN | ACK, this.#iss, Buffer.alloc(0))];
    if (this.state !== "established") return [];
    const out: SegmentOut[] = [];
    if (this.request.length < this.#script.requestLength) return out;
    const end = add(this.#iss, 1 + answer.length);
    for (let seq = this.#una; compare(seq, end) < 0; seq = add(seq, segment)) {
      const from = compare(seq, add(this.#iss, 1));
      out.push(this.#out(ACK | PSH, seq, answer.subarray(from, from + segment)));
    }
    if (this.#closing && !this.#finished) out.push(this.#out(ACK | FIN, end, Buffer.alloc(0)));
    return out.slice(0, 8);
  }

  receive(s: TcpRepr): SegmentOut[] {
    if ((s.flags & RST) !== 0) {
      // RFC 5961: in the window exactly; with an ACK it must confirm nothing that was not sent.
      if (this.state === "listen" || s.seq !== this.#rcvNxt) return [];
      this.state = "closed";
      return [];
    }
    switch (this.state) {
      case "listen":
        if ((s.flags & SYN) === 0) return [];
        this.#clientSyn = s.seq;
        this.#rcvNxt = add(s.seq, 1);
        this.state = "syn_received";
        return this.pending();
      case "closed":
        return [{ flags: RST, seq: s.ack, ack: 0, payload: Buffer.alloc(0) }];
      case "syn_received":
        if ((s.flags & SYN) !== 0) return s.seq === this.#clientSyn ? this.pending() : [];
        if (s.ack !== add(this.#iss, 1)) return [];
        this.state = "established";
        this.#una = s.ack;
        return this.#established(s);
      case "established":
        // A repeated SYN is only told where we are (RFC 5961 §4.2).
        return (s.flags & SYN) !== 0 ? [this.#out(ACK, this.#una, Buffer.alloc(0))] : this.#established(s);
    }
  }

  #established(s: TcpRepr): SegmentOut[] {
    if (compare(s.ack, this.#una) > 0) this.#una = s.ack;
    if (s.ack === add(this.#iss, 2 + this.#script.answer.length)) this.#finished = true;
    this.#waiting = insert(this.#waiting, this.#rcvNxt, { seq: s.seq, bytes: s.payload }, this.#script.window);
    const ready = take(this.#waiting, this.#rcvNxt);
    this.#waiting = ready.rest;
    this.#rcvNxt = ready.next;
    this.request = Buffer.concat([this.request, ...ready.pieces]);
    if (s.payload.length === 0 && ready.pieces.length === 0) return [];
    return [this.#out(ACK, this.#una, Buffer.alloc(0)), ...this.pending()];
  }

  #out(flags: number, seq: number, payload: Buffer): SegmentOut {
    return { flags, seq, ack: this.#rcvNxt, payload };
  }
}

/** A segment as the other end would parse it. */
export const asReceived = (s: SegmentOut, window: number, options: Uint8Array = new Uint8Array(0)): TcpRepr => ({
  srcPort: 1,
  dstPort: 2,
  seq: s.seq,
  ack: s.ack,
  flags: s.flags,
  window,
  urgent: 0,
  options,
  payload: s.payload,
});
