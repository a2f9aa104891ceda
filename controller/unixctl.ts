/**
 * Open vSwitch's management socket (ovs-appctl(8), "Target"): JSON-RPC 1.0 over a unix socket. A request is a method with
 * an array of strings, the answer is text for people, or an error text.
 */
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

/** What went wrong, in a sentence for the operator. */
export class UnixctlError extends Error {
  override name = "UnixctlError";
}

/** Where packages of Open vSwitch keep their sockets. */
const DEFAULT_RUNDIR = "/var/run/openvswitch";

/**
 * The socket of the ovs-vswitchd on this machine, from its pid file.
 *
 * @param rundir the folder; without it, OVS_RUNDIR or the packages' default
 * @throws UnixctlError when there is no pid file that can be read
 */
export async function vswitchdSocket(rundir: string = process.env["OVS_RUNDIR"] || DEFAULT_RUNDIR): Promise<string> {
  const pidFile = join(rundir, "ovs-vswitchd.pid");
  let text: string;
  try {
    text = await readFile(pidFile, "utf8");
  } catch (e) {
    throw new UnixctlError(
      (e as NodeJS.ErrnoException).code === "EACCES"
        ? `no right to read ${pidFile}: run as root, or as the user of ovs-vswitchd`
        : `there is no ${pidFile}: ovs-vswitchd does not run on this machine, or OVS_RUNDIR or --unixctl must say where its socket is`,
    );
  }
  const pid = text.trim();
  if (!/^\d+$/.test(pid)) throw new UnixctlError(`${pidFile} holds no process number`);
  return join(rundir, `ovs-vswitchd.${pid}.ctl`);
}

const unreachable = (socket: string, e: NodeJS.ErrnoException): UnixctlError => {
  switch (e.code) {
    case "ENOENT":
      return new UnixctlError(`there is no socket ${socket}: is ovs-vswitchd running on this machine?`);
    case "EACCES":
    case "EPERM":
      return new UnixctlError(`no right to use ${socket}: run as root, or as the user of ovs-vswitchd`);
    case "ECONNREFUSED":
      return new UnixctlError(`nobody listens at ${socket}: ovs-vswitchd has ended, or the file is no socket`);
    default:
      return new UnixctlError(`${socket}: ${e.message}`);
  }
};

/** Finds the end of the first JSON object in text that comes in pieces. */
class ObjectEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Takes the next piece; whether the object ends in it. */
  ends(piece: string): boolean {
    for (const c of piece) {
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (c === "\\") this.#escaped = true;
        else if (c === '"') this.#inString = false;
      } else if (c === '"') this.#inString = true;
      else if (c === "{") this.#depth++;
      else if (c === "}" && --this.#depth === 0) return true;
    }
    return false;
  }
}

/** Open vSwitch leaves out the member that does not apply, where JSON-RPC 1.0 wants a null. */
interface Reply {
  readonly result?: unknown;
  readonly error?: unknown;
}

const isReply = (value: unknown): value is Reply =>
  typeof value === "object" && value !== null && ("result" in value || "error" in value);

function resultOf(text: string, socket: string): string {
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    reply = undefined;
  }
  if (!isReply(reply)) throw new UnixctlError(`${socket} answers something that is no JSON-RPC: not a socket of OVS?`);
  const { result, error } = reply;
  if (error !== undefined && error !== null) throw new UnixctlError(String(error).trim());
  return String(result);
}

/**
 * Calls one method, such as `ofproto/trace`, and gives its text.
 *
 * @throws UnixctlError when the socket cannot be used, the daemon refuses, or nothing comes within `timeoutMs`
 */
export function unixctl(
  socket: string,
  method: string,
  params: readonly string[] = [],
  timeoutMs = 10_000,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = connect(socket);
    const end = new ObjectEnd();
    const pieces: string[] = [];
    const settle = (act: () => void): void => {
      connection.destroy();
      act();
    };
    connection.setEncoding("utf8");
    connection.setTimeout(timeoutMs, () =>
      settle(() => reject(new UnixctlError(`${method}: no answer from ${socket} within ${timeoutMs / 1000} s`))),
    );
    connection.on("connect", () => connection.write(JSON.stringify({ id: 0, method, params })));
    connection.on("data", (piece: string) => {
      pieces.push(piece);
      if (!end.ends(piece)) return;
      settle(() => {
        try {
          resolve(resultOf(pieces.join(""), socket));
        } catch (e) {
          reject(e);
        }
      });
    });
    connection.on("end", () =>
      settle(() => reject(new UnixctlError(`${socket} was closed before ${method} was answered`))),
    );
    connection.on("error", (e) => settle(() => reject(unreachable(socket, e))));
  });
}
