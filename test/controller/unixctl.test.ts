import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { UnixctlError, unixctl, vswitchdSocket } from "../../controller/unixctl.ts";

let folder: string;
let server: Server | undefined;
const sockets = new Set<Socket>();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "unixctl-"));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
  await rm(folder, { recursive: true });
});

/** A daemon that does `answer` with each request. */
async function daemon(answer: (socket: Socket, request: string) => void): Promise<string> {
  const path = join(folder, "ovs-vswitchd.7.ctl");
  const made = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("data", (data) => answer(socket, String(data)));
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(path, resolve));
  return path;
}

describe("unixctl", () => {
  test("sends method and strings, gives the text", async () => {
    let seen: unknown;
    const path = await daemon((socket, request) => {
      seen = JSON.parse(request);
      socket.write('{"id":0,"result":"a\\nb","error":null}');
    });
    expect(await unixctl(path, "ofproto/trace", ["br-lb", "in_port=1"])).toBe("a\nb");
    expect(seen).toEqual({ id: 0, method: "ofproto/trace", params: ["br-lb", "in_port=1"] });
  });

  test("an answer in pieces, cut anywhere, with braces and quotes in its text", async () => {
    const text = 'x {"y": "}"} \\ é "';
    const bytes = Buffer.from(JSON.stringify({ id: 0, result: text }));
    const path = await daemon((socket) => {
      socket.setNoDelay(true);
      let at = 0;
      const more = (): void => {
        socket.write(bytes.subarray(at, at + 3));
        at += 3;
        if (at < bytes.length) setTimeout(more, 1);
      };
      more();
    });
    expect(await unixctl(path, "x")).toBe(text);
  });

  test("a refusal has the daemon's words", async () => {
    const path = await daemon((socket) => socket.write('{"id":0,"error":"Unknown bridge name\\n"}'));
    await expect(unixctl(path, "ofproto/trace", ["nope"])).rejects.toThrow(new UnixctlError("Unknown bridge name"));
  });

  test.each([
    ["something else", '{"hello": 1}', "no JSON-RPC"],
    ["an end", undefined, "was closed before"],
  ])("%s instead of an answer", async (_, answer, message) => {
    const path = await daemon((socket) => (answer === undefined ? socket.end() : socket.write(answer)));
    await expect(unixctl(path, "x")).rejects.toThrow(message);
  });

  test("silence", async () => {
    const path = await daemon(() => {});
    await expect(unixctl(path, "x", [], 50)).rejects.toThrow("x: no answer from");
  });

  test("no socket, no daemon behind it", async () => {
    await expect(unixctl(join(folder, "none.ctl"), "x")).rejects.toThrow("there is no socket");
    await writeFile(join(folder, "file.ctl"), "");
    await expect(unixctl(join(folder, "file.ctl"), "x")).rejects.toThrow("nobody listens");
  });

  test("the socket is found by the pid file", async () => {
    await writeFile(join(folder, "ovs-vswitchd.pid"), "  7\n");
    expect(await vswitchdSocket(folder)).toBe(join(folder, "ovs-vswitchd.7.ctl"));
    await writeFile(join(folder, "ovs-vswitchd.pid"), "seven");
    await expect(vswitchdSocket(folder)).rejects.toThrow("holds no process number");
    await expect(vswitchdSocket(join(folder, "none"))).rejects.toThrow("ovs-vswitchd does not run on this machine");
  });
});
