import { connect, type Socket } from "node:net";
import { decode, encode } from "../../openflow/codec.ts";
import { Framer } from "../../openflow/framer.ts";
import type { Message } from "../../openflow/messages/all.ts";

export interface FakeSwitchOptions {
  readonly datapathId?: bigint;
  /** Called before the default answer; true means "dealt with". */
  readonly on?: (message: Message, self: FakeSwitch) => boolean;
  /** Bytes sent instead of a proper HELLO. */
  readonly hello?: Buffer;
  /** Largest piece that is written at once; by default whole messages. */
  readonly chunk?: number;
}

const HELLO_13 = Buffer.from("0400000800000001", "hex");

/** The switch's end of an OpenFlow connection: answers the handshake and empty tables, records all it hears. */
export class FakeSwitch {
  readonly heard: Message[] = [];
  readonly socket: Socket;
  closed = false;
  #options: FakeSwitchOptions;
  #framer = new Framer();

  constructor(port: number, options: FakeSwitchOptions = {}) {
    this.#options = options;
    this.socket = connect(port, "127.0.0.1");
    this.socket.on("error", () => undefined);
    this.socket.on("close", () => {
      this.closed = true;
    });
    this.socket.on("data", (chunk: Buffer) => {
      for (const bytes of this.#framer.push(chunk)) this.#receive(bytes);
    });
    this.socket.on("connect", () => this.write(options.hello ?? HELLO_13));
  }

  send(message: Message): void {
    this.write(encode(message));
  }

  write(bytes: Buffer): void {
    const { chunk } = this.#options;
    if (chunk === undefined) {
      this.socket.write(bytes);
      return;
    }
    this.socket.setNoDelay(true);
    for (let at = 0; at < bytes.length; at += chunk) this.socket.write(bytes.subarray(at, at + chunk));
  }

  end(): void {
    this.socket.destroy();
  }

  /** Messages of one type, in the order they came. */
  of<T extends Message["type"]>(type: T): Extract<Message, { readonly type: T }>[] {
    return this.heard.filter((m): m is Extract<Message, { readonly type: T }> => m.type === type);
  }

  #receive(bytes: Buffer): void {
    const decoded = decode(bytes);
    if (!decoded.ok) throw new Error(`the controller sent something unreadable: ${decoded.error.message}`);
    const { message } = decoded;
    this.heard.push(message);
    if (this.#options.on?.(message, this)) return;
    const { xid } = message;
    switch (message.type) {
      case "features_request":
        this.send({
          type: "features_reply",
          xid,
          datapathId: this.#options.datapathId ?? 1n,
          nBuffers: 0,
          nTables: 254,
          auxiliaryId: 0,
          capabilities: 0x4f,
          reserved: 0,
        });
        break;
      case "echo_request":
        this.send({ type: "echo_reply", xid, data: message.data });
        break;
      case "role_request":
        this.send({ type: "role_reply", xid, role: message.role === 0 ? 1 : message.role, generationId: 0n });
        break;
      case "barrier_request":
        this.send({ type: "barrier_reply", xid });
        break;
      case "port_desc_request":
        this.send({ type: "port_desc_reply", xid, flags: 0, ports: [] });
        break;
      case "flow_stats_request":
        this.send({ type: "flow_stats_reply", xid, flags: 0, flows: [] });
        break;
      case "group_desc_request":
        this.send({ type: "group_desc_reply", xid, flags: 0, groups: [] });
        break;
      case "meter_config_request":
        this.send({ type: "meter_config_reply", xid, flags: 0, meters: [] });
        break;
      case "bundle_control":
        this.send({ ...message, controlType: message.controlType + 1, flags: 0 });
        break;
      default:
    }
  }
}
