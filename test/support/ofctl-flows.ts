import { spawn } from "node:child_process";
import { createServer, type Socket } from "node:net";
import { ofctl } from "./ofctl.ts";

/** The text of a list, or the error with which ovs-ofctl refuses its bytes. */
export type ListAnswer = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly code: string };

/** `ovs-ofctl parse-actions` or `parse-instructions` for lists in hex, none of them empty. */
export function listAnswers(what: "actions" | "instructions", lists: readonly string[]): readonly ListAnswer[] {
  // Each answer is a line, perhaps followed by how ovs-ofctl would encode the list otherwise, and an empty line.
  const lines = ofctl([`parse-${what}`, "OpenFlow13"], `${lists.join("\n")}\n`).split("\n");
  return lines
    .filter((l) => /^(actions=|bad )/.test(l))
    .map((line) => {
      const bad = /^bad OpenFlow13 \w+: (\w+)/.exec(line);
      return bad ? { ok: false, code: bad[1] as string } : { ok: true, text: line.slice("actions=".length) };
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
function serve(socket: Socket, flowMod: (m: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 8 && rest.length >= rest.readUInt16BE(2)) {
      const m = rest.subarray(0, rest.readUInt16BE(2));
      rest = rest.subarray(m.length);
      const type = m.readUInt8(1);
      if (type === Type.flowMod) flowMod(Buffer.from(m));
      else if (type === Type.multipartRequest) socket.write(multipartReply(m));
      else if (type === Type.echoRequest || type === Type.barrierRequest) {
        const reply = Buffer.from(m);
        reply.writeUInt8(type + 1, 1);
        socket.write(reply);
      }
    }
  });
  socket.on("error", () => undefined);
  socket.write(HELLO);
}

/**
 * The flow-mods that `ovs-ofctl -O OpenFlow13 add-flows` sends for flows in text, in their order, over one connection
 * to a switch that only listens.
 * @throws with ovs-ofctl's own words when it does not take one of them
 */
export async function sentFlowMods(flows: readonly string[]): Promise<readonly Buffer[]> {
  const got: Buffer[] = [];
  const server = createServer((socket) => serve(socket, (m) => got.push(m)));
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

/** The instructions of a flow-mod, in hex. */
export function instructionsOf(flowMod: Buffer): string {
  const match = 48;
  return flowMod.toString("hex", match + Math.ceil(flowMod.readUInt16BE(match + 2) / 8) * 8);
}
