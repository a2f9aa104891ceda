/** `ovs-ofctl` as a reference: what it prints for bytes, and which bytes it sends for text. Needs no switch. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createServer, type Socket } from "node:net";

/** Whether there is an `ovs-ofctl` to ask. */
export const hasOfctl = spawnSync("ovs-ofctl", ["--version"]).status === 0;

export interface Answer {
  /** The text, or the name of the error with which the bytes are refused. */
  readonly text: string;
  readonly refused: boolean;
}

/**
 * Asks for many lists of actions or instructions at once.
 * @param hex one list each; empty ones cannot be asked
 */
export function ofctlParse(what: "actions" | "instructions", hex: readonly string[]): readonly Answer[] {
  const out = execFileSync("ovs-ofctl", [`parse-${what}`, "OpenFlow13"], {
    input: `${hex.join("\n")}\n`,
    stdio: ["pipe", "pipe", "ignore"],
    maxBuffer: 1 << 28,
    encoding: "utf8",
  });
  // Each answer is a line, perhaps followed by how it would be encoded otherwise, and an empty line.
  const answers = out.split("\n").filter((l) => /^(actions=|bad )/.test(l));
  return answers.map((line) => {
    const bad = /^bad OpenFlow13 \w+: (\w+)/.exec(line);
    return bad ? { text: bad[1] as string, refused: true } : { text: line.slice("actions=".length), refused: false };
  });
}

const HELLO = Buffer.from("0400000800000001", "hex");
const Type = { echoRequest: 2, flowMod: 14, multipartRequest: 18, barrierRequest: 20 } as const;

/** Property types that table features must have, each of them empty here. */
const PROPERTIES = [0, 2, 4, 6, 8, 10, 12, 14];

const TABLE_FEATURES = 12;

/** Answers to what ovs-ofctl asks first: features of one table that has none, and no ports. */
function multipartReply(request: Buffer): Buffer {
  const wanted = request.readUInt16BE(8) === TABLE_FEATURES;
  const table = Buffer.alloc(wanted ? 64 + 8 * PROPERTIES.length : 0);
  if (wanted) {
    table.writeUInt16BE(table.length);
    PROPERTIES.forEach((type, i) => {
      table.writeUInt32BE(type * 0x1_0000 + 4, 64 + 8 * i);
    });
  }
  const reply = Buffer.concat([request.subarray(0, 16), table]);
  reply.writeUInt8(Type.multipartRequest + 1, 1);
  reply.writeUInt16BE(reply.length, 2);
  return reply;
}

/** Splits a stream into messages and answers what ovs-ofctl waits for. */
function answer(socket: Socket, message: (m: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 8 && rest.length >= rest.readUInt16BE(2)) {
      const m = rest.subarray(0, rest.readUInt16BE(2));
      rest = rest.subarray(m.length);
      const type = m.readUInt8(1);
      if (type === Type.echoRequest || type === Type.barrierRequest) {
        const reply = Buffer.from(m);
        reply.writeUInt8(type + 1, 1);
        socket.write(reply);
      } else if (type === Type.multipartRequest) {
        socket.write(multipartReply(m));
      } else message(Buffer.from(m));
    }
  });
  socket.on("error", () => undefined);
  socket.write(HELLO);
}

/**
 * The flow-mods that `ovs-ofctl -O OpenFlow13 add-flows` sends for flows in text, in their order.
 * @throws with ovs-ofctl's own words when it does not take one of them
 */
export async function ofctlFlowMods(flows: readonly string[]): Promise<readonly Buffer[]> {
  const got: Buffer[] = [];
  const server = createServer((socket) =>
    answer(socket, (m) => {
      if (m.readUInt8(1) === Type.flowMod) got.push(m);
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  try {
    const child = spawn("ovs-ofctl", ["-O", "OpenFlow13", "add-flows", `tcp:127.0.0.1:${port}`, "-"]);
    let complaint = "";
    child.stderr.on("data", (d: Buffer) => {
      complaint += d.toString();
    });
    child.stdin.end(`${flows.join("\n")}\n`);
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    if (code !== 0) throw new Error(complaint.trim());
  } finally {
    server.close();
  }
  return got;
}

/** The instructions of a flow-mod without the parts before them. */
export function instructionsOf(flowMod: Buffer): Buffer {
  const matchAt = 48;
  const length = flowMod.readUInt16BE(matchAt + 2);
  return flowMod.subarray(matchAt + Math.ceil(length / 8) * 8);
}
