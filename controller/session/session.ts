import type { Socket } from "node:net";
import type { Logger } from "pino";
import { decode, encode } from "../../openflow/codec.ts";
import { DecodeError } from "../../openflow/errors.ts";
import { errorNameOf, errorReply } from "../../openflow/errors-of.ts";
import { Framer } from "../../openflow/framer.ts";
import type { Message } from "../../openflow/messages/all.ts";
import { MULTIPART_MORE } from "../../openflow/messages/define.ts";
import { negotiate, OFP_VERSION, ourHello } from "./hello.ts";
import { Requests, SessionClosed, SwitchError } from "./requests.ts";

/** A message still without its transaction id, which the session assigns. */
export type Outgoing = Message extends infer M ? (M extends { readonly xid: number } ? Omit<M, "xid"> : never) : never;

export interface SessionTimeouts {
  /** From the TCP connection to the end of the handshake, ms. */
  readonly handshakeMs: number;
  /** Silence after which an echo request is sent, ms. */
  readonly echoMs: number;
  /** Silence after which the switch is taken for dead, ms. */
  readonly deadMs: number;
  /** How long a request may wait for its answer, ms. */
  readonly requestMs: number;
}

export const DEFAULT_TIMEOUTS: SessionTimeouts = {
  handshakeMs: 10_000,
  echoMs: 5_000,
  deadMs: 15_000,
  requestMs: 10_000,
};

/** Unsent bytes over which droppable messages (packet-outs) are not queued any more. */
const CONGESTED = 4 * 1024 * 1024;
/** Unsent bytes over which a switch that does not read is given up. */
const HOPELESS = 64 * 1024 * 1024;

export interface SwitchFeatures {
  /** 16 lower-case hex digits. */
  readonly datapathId: string;
  readonly tables: number;
  readonly capabilities: number;
}

export interface SessionHandlers {
  /** The handshake is done. */
  ready(session: Session): void;
  /** Something the switch sent on its own: packet-ins, port status, flow removed, flow monitor updates. */
  message(session: Session, message: Message): void;
  /** An OFPT_ERROR nobody waited for. */
  error(session: Session, error: SwitchError): void;
  closed(session: Session, reason: string): void;
}

type State = "hello" | "features" | "ready" | "closed";

/** One OpenFlow 1.3 connection, from HELLO to its end. Nothing the peer sends can hurt anything but this session. */
export class Session {
  readonly peer: string;
  /** Bytes and messages in both directions, for status and metrics. */
  readonly traffic = { messagesIn: 0, messagesOut: 0, bytesIn: 0, bytesOut: 0, congestionDrops: 0 };
  #socket: Socket;
  #state: State = "hello";
  #framer = new Framer();
  #requests = new Requests<Message>();
  #timeouts: SessionTimeouts;
  #handlers: SessionHandlers;
  #log: Logger;
  #lastHeard: number;
  #watchdog: NodeJS.Timeout;
  #echoSent = false;
  #features: SwitchFeatures | undefined;
  #complaints = 0;
  #errorSinks = new Set<(error: SwitchError) => boolean>();

  constructor(socket: Socket, handlers: SessionHandlers, log: Logger, timeouts: SessionTimeouts = DEFAULT_TIMEOUTS) {
    this.peer = `${socket.remoteAddress ?? "?"}:${socket.remotePort ?? 0}`;
    this.#socket = socket;
    this.#handlers = handlers;
    this.#timeouts = timeouts;
    this.#log = log.child({ peer: this.peer });
    this.#lastHeard = Date.now();
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", (e) => this.close(`connection failed: ${e.message}`));
    socket.on("end", () => this.close("the switch closed the connection"));
    socket.on("close", () => this.close("the connection ended"));
    const started = Date.now();
    this.#watchdog = setInterval(() => this.#watch(started), Math.max(10, Math.min(1_000, timeouts.echoMs / 4)));
    this.#write(encode(ourHello(this.#requests.nextXid())));
  }

  get state(): State {
    return this.#state;
  }

  get features(): SwitchFeatures {
    if (!this.#features) throw new Error("the handshake is not done");
    return this.#features;
  }

  /** Whether so much is unsent that packets should rather be dropped than queued. */
  get congested(): boolean {
    return this.#socket.writableLength > CONGESTED;
  }

  /** Sends and forgets; an error that comes back is reported under the name `what`. */
  send(message: Outgoing, what: string): number {
    const xid = this.#requests.nextXid();
    this.#requests.label(xid, what);
    this.#write(encode({ ...message, xid } as Message));
    return xid;
  }

  /** Sends a message that must know its own transaction id. */
  sendNumbered(build: (xid: number) => Message): number {
    const xid = this.#requests.nextXid();
    this.#write(encode(build(xid)));
    return xid;
  }

  /** Offers unclaimed errors to `sink`, which returns true to keep one; the function returned ends that. */
  watchErrors(sink: (error: SwitchError) => boolean): () => void {
    this.#errorSinks.add(sink);
    return () => this.#errorSinks.delete(sink);
  }

  /** Resolves once the socket has taken what was written, or the session has ended. */
  async drained(): Promise<void> {
    if (!this.#socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#socket.off("drain", done);
        this.#socket.off("close", done);
        resolve();
      };
      this.#socket.once("drain", done);
      this.#socket.once("close", done);
    });
  }

  /** Sends something that may be lost rather than delay everything else: a packet-out. */
  sendDroppable(message: Outgoing, what: string): boolean {
    if (this.#state !== "ready" || this.congested) {
      this.traffic.congestionDrops++;
      return false;
    }
    this.send(message, what);
    return true;
  }

  /** Sends a request and waits for its one answer. Rejects with {@link SwitchError} or {@link SessionClosed}. */
  async request(message: Outgoing, what: string): Promise<Message> {
    const xid = this.#requests.nextXid();
    const answer = this.#requests.expect(xid, what, this.#timeouts.requestMs, () => true);
    this.#write(encode({ ...message, xid } as Message));
    return (await answer)[0] as Message;
  }

  /**
   * Sends a multipart request and waits for all parts. A reply that breaks off is a rejection, never a short list: what
   * is missing from it must not be taken for missing on the switch.
   */
  multipart(message: Outgoing, what: string): Promise<readonly Message[]> {
    const xid = this.#requests.nextXid();
    const more = (m: Message): boolean => "flags" in m && (m.flags & MULTIPART_MORE) !== 0;
    const answer = this.#requests.expect(xid, what, this.#timeouts.requestMs, (m) => !more(m));
    this.#write(encode({ ...message, xid } as Message));
    return answer;
  }

  /** Everything sent before has been carried out once this resolves (OF1.3.5 §7.3.8). */
  async barrier(): Promise<void> {
    await this.request({ type: "barrier_request" }, "barrier");
  }

  close(reason: string): void {
    if (this.#state === "closed") return;
    const was = this.#state;
    this.#state = "closed";
    clearInterval(this.#watchdog);
    this.#requests.failAll(new SessionClosed(reason));
    this.#socket.end();
    this.#socket.destroySoon();
    this.#log.info({ was }, `switch session closed: ${reason}`);
    this.#handlers.closed(this, reason);
  }

  /** Whether the session has ended meanwhile. A method, since the compiler does not expect fields to change over an await. */
  #ended(): boolean {
    return this.#state === "closed";
  }

  #write(bytes: Buffer): void {
    if (this.#state === "closed") throw new SessionClosed("the session is closed");
    if (this.#socket.writableLength > HOPELESS) {
      this.close(`the switch does not read: ${this.#socket.writableLength} bytes unsent`);
      throw new SessionClosed("the switch does not read");
    }
    this.traffic.messagesOut++;
    this.traffic.bytesOut += bytes.length;
    // What is sent in one turn of the event loop goes out in one system call.
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    this.#socket.write(bytes);
  }

  #watch(started: number): void {
    const now = Date.now();
    if (this.#state !== "ready" && now - started > this.#timeouts.handshakeMs) {
      this.close(`no complete handshake within ${this.#timeouts.handshakeMs / 1000} s`);
      return;
    }
    const silent = now - this.#lastHeard;
    if (silent > this.#timeouts.deadMs) this.close(`silent for ${Math.round(silent / 1000)} s`);
    else if (silent > this.#timeouts.echoMs && !this.#echoSent && this.#state === "ready") {
      this.#echoSent = true;
      this.send({ type: "echo_request", data: Buffer.alloc(0) }, "echo");
    }
  }

  #receive(chunk: Buffer): void {
    if (this.#state === "closed") return;
    this.traffic.bytesIn += chunk.length;
    for (const bytes of this.#framer.push(chunk)) {
      if (this.#ended()) return;
      // Only whole messages are signs of life: a length of 65,535 must not swallow the answers to our echoes for ever.
      this.#lastHeard = Date.now();
      this.#echoSent = false;
      this.traffic.messagesIn++;
      try {
        this.#handle(bytes);
      } catch (e) {
        // A handler's bug must not take the daemon down, nor leave this session in a half state.
        this.#log.error({ err: e }, "message could not be handled");
        this.close(`internal error: ${e instanceof Error ? e.message : String(e)}`);
        return;
      }
    }
    const { failure } = this.#framer;
    if (failure && !this.#ended()) {
      this.#refuse(failure.error, failure.header);
      this.close(`not OpenFlow 1.3: ${failure.error.message}`);
    }
  }

  /** Answers bad bytes with the OpenFlow error for them. */
  #refuse(error: DecodeError, request: Buffer): void {
    if (this.#complaints++ < 10) this.#log.warn({ code: error.code }, `bad message: ${error.message}`);
    try {
      this.#write(encode(errorReply(error, request, request.readUInt32BE(4))));
    } catch {
      // The connection is going down anyway.
    }
  }

  #handle(bytes: Buffer): void {
    const version = bytes[0] as number;
    if (this.#state === "hello") {
      this.#handleHello(bytes);
      return;
    }
    if (version !== OFP_VERSION) {
      this.#refuse(new DecodeError("OFPBRC_BAD_VERSION", 0, `version ${version} after 1.3 was agreed`), bytes);
      this.close("changed the OpenFlow version");
      return;
    }
    const decoded = decode(bytes);
    if (!decoded.ok) {
      const xid = bytes.readUInt32BE(4);
      // An answer that cannot be read must fail whoever waits for it, at once.
      if (!this.#requests.fail(xid, new SessionClosed(`unreadable answer: ${decoded.error.message}`))) {
        this.#refuse(decoded.error, bytes);
      }
      return;
    }
    const { message } = decoded;
    switch (message.type) {
      case "echo_request":
        this.#write(encode({ type: "echo_reply", xid: message.xid, data: message.data }));
        return;
      case "echo_reply":
      case "hello":
        return;
      case "error": {
        const { errorType, code: number } = message.error;
        const code = errorNameOf(message.error) ?? `error type ${errorType}, code ${number}`;
        const error = new SwitchError(code, message.xid, this.#requests.labelOf(message.xid) ?? "an unknown message");
        if (this.#requests.fail(message.xid, error)) return;
        for (const sink of this.#errorSinks) if (sink(error)) return;
        this.#handlers.error(this, error);
        return;
      }
      default:
    }
    if (this.#requests.answer(message)) return;
    this.#handlers.message(this, message);
  }

  #handleHello(bytes: Buffer): void {
    if (bytes[1] !== 0) {
      this.#refuse(new DecodeError("OFPBRC_BAD_TYPE", 1, "the first message is not HELLO"), bytes);
      this.close("no HELLO");
      return;
    }
    const agreed = negotiate(bytes);
    if (!agreed.ok) {
      this.#write(
        encode({
          type: "error",
          xid: bytes.readUInt32BE(4),
          error: { errorType: 0, code: 0, data: Buffer.from(agreed.reason, "ascii") },
        }),
      );
      this.close(agreed.reason);
      return;
    }
    this.#state = "features";
    this.#finishHandshake().catch((e: unknown) => this.close(e instanceof Error ? e.message : String(e)));
  }

  async #finishHandshake(): Promise<void> {
    const reply = await this.request({ type: "features_request" }, "features request");
    if (reply.type !== "features_reply") throw new SessionClosed(`features request answered by ${reply.type}`);
    if (this.#ended()) return;
    this.#features = {
      datapathId: reply.datapathId.toString(16).padStart(16, "0"),
      tables: reply.nTables,
      capabilities: reply.capabilities,
    };
    // Fragments as they are; whole packets in packet-ins.
    this.send({ type: "set_config", flags: 0, missSendLen: 0xffff }, "set config");
    // NXT_PACKET_IN2 carries the userdata that says which rule sent the packet.
    this.send({ type: "nxt_set_packet_in_format", format: 2 }, "set packet-in format");
    await this.barrier();
    if (this.#ended()) return;
    this.#state = "ready";
    this.#log = this.#log.child({ dpid: this.#features.datapathId });
    this.#log.info("switch connected");
    this.#handlers.ready(this);
  }
}
