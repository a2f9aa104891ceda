import { createServer, type Server } from "node:net";
import type { Logger } from "pino";
import { DEFAULT_TIMEOUTS, Session, type SessionHandlers, type SessionTimeouts } from "./session.ts";

/** Why the daemon cannot listen, in one sentence for the operator. */
export class ListenError extends Error {}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** More connections than this at once are turned away: a real installation has tens of bridges. */
const MAX_SESSIONS = 1024;

/** Accepts OpenFlow connections and keeps a session for each. */
export class OpenFlowListener {
  readonly sessions = new Set<Session>();
  #server: Server;

  constructor(handlers: SessionHandlers, log: Logger, timeouts: SessionTimeouts = DEFAULT_TIMEOUTS) {
    const tracked: SessionHandlers = {
      ...handlers,
      closed: (session, reason) => {
        this.sessions.delete(session);
        handlers.closed(session, reason);
      },
    };
    this.#server = createServer((socket) => {
      if (this.sessions.size >= MAX_SESSIONS) {
        log.warn({ peer: socket.remoteAddress }, `more than ${MAX_SESSIONS} switches; connection refused`);
        socket.destroy();
        return;
      }
      this.sessions.add(new Session(socket, tracked, log, timeouts));
    });
  }

  /** Resolves with the address really bound (port 0 asks for any). */
  listen(at: Endpoint): Promise<Endpoint> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", (e: NodeJS.ErrnoException) => reject(listenError(e, at, "OpenFlow")));
      this.#server.listen(at.port, at.host, () => {
        const bound = this.#server.address();
        resolve(bound !== null && typeof bound === "object" ? { host: bound.address, port: bound.port } : at);
      });
    });
  }

  async close(): Promise<void> {
    for (const s of [...this.sessions]) s.close("the controller stops");
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Says why `what` cannot listen at `at`. */
export function listenError(e: NodeJS.ErrnoException, at: Endpoint, what: string): ListenError {
  const where = `${at.host}:${at.port}`;
  switch (e.code) {
    case "EADDRINUSE":
      return new ListenError(`${what} cannot listen on ${where}: the port is taken by another program`);
    case "EACCES":
      return new ListenError(
        `${what} cannot listen on ${where}: no right to use that port (ports below 1024 need root)`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ListenError(`${what} cannot listen on ${where}: this machine has no such address`);
    default:
      return new ListenError(`${what} cannot listen on ${where}: ${e.message}`);
  }
}
