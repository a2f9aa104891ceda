// The lab's web service: says who it is and whom it sees. Plain JavaScript, so that plain node starts it at once.
//
// usage: node backend.mjs NAME PORT [BEHAVIOUR-FILE]
//
// TCP: GET / -> `backend=be1 time=... client=IP:PORT served=IP:PORT req=N`, GET /health -> `ok`,
//      GET /slow?ms=N -> the same after N milliseconds (5000 unless told). UDP: any datagram -> the same line, and
//      spaces after it where the datagram is longer.
// BEHAVIOUR-FILE, read anew for each request, may hold {"status": 503, "delayMs": 200}, for both protocols' answers.

import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [name = "be", portText = "8080", behaviourFile] = process.argv.slice(2);
const port = Number(portText);
let requests = 0;

/** @returns {{status?: number, delayMs?: number}} */
function behaviour() {
  try {
    return behaviourFile === undefined ? {} : JSON.parse(readFileSync(behaviourFile, "utf8"));
  } catch {
    return {};
  }
}

/** @param {string} client @param {string} served */
function line(client, served) {
  requests++;
  return `backend=${name} time=${new Date().toISOString()} client=${client} served=${served} req=${requests}\n`;
}

const server = createServer((request, response) => {
  const { status = 200, delayMs = 0 } = behaviour();
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://lab");
  const socket = request.socket;
  const body =
    pathname === "/health"
      ? "ok\n"
      : line(`${socket.remoteAddress}:${socket.remotePort}`, `${socket.localAddress}:${socket.localPort}`);
  const slowMs = pathname === "/slow" ? Number(searchParams.get("ms") ?? 5000) : 0;
  // The request's body, if any, has to be read for the connection to stay usable.
  request.resume();
  setTimeout(() => {
    response.writeHead(status, { "content-type": "text/plain", "content-length": Buffer.byteLength(body) });
    response.end(request.method === "HEAD" ? undefined : body);
  }, delayMs + slowMs);
});
// Tests hold connections open over minutes; node would close them after five idle seconds.
server.keepAliveTimeout = 600_000;
server.listen(port, "0.0.0.0");

const udp = createSocket("udp4", (message, peer) => {
  const text = line(`${peer.address}:${peer.port}`, `0.0.0.0:${port}`).padEnd(message.length);
  setTimeout(() => udp.send(text, peer.port, peer.address), behaviour().delayMs ?? 0);
});
udp.bind(port, "0.0.0.0");

process.on("SIGTERM", () => process.exit(0));
