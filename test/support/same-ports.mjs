// Clients that come again from ports they had before, for tests:
//   node same-ports.mjs tcp IP PORT FIRST COUNT   connects from each of COUNT ports in turn, over and over, up to 8 at a time
//   node same-ports.mjs udp IP PORT SOURCE MS     a datagram every MS milliseconds from one port
// Prints "started", and on SIGTERM one line of JSON: {"sent":…,"failures":["…"],"answers":[[ms since the start,"be1"],…]}
import { createSocket } from "node:dgram";
import { connect } from "node:net";

const [kind, ip, port, first, last] = process.argv.slice(2);
const begin = Date.now();
const failures = [];
const answers = [];
let sent = 0;
let stopping = false;

const report = () => {
  // A long report is more than a pipe holds: exit when all of it is out.
  process.stdout.write(`${JSON.stringify({ sent, failures, answers })}\n`, () => process.exit(0));
};
const heard = (text) => answers.push([Date.now() - begin, /backend=(\S+)/.exec(text)?.[1] ?? ""]);

/** One request; the client ends the connection by a reset, so that its port is free at once. */
const once = (localPort) =>
  new Promise((resolve) => {
    sent++;
    const started = Date.now();
    let text = "";
    const socket = connect({ host: ip, port: Number(port), localPort, timeout: 3000 });
    const end = (failure) => {
      if (failure) failures.push(`port ${localPort} at ${started - begin} ms: ${failure}`);
      else heard(text);
      socket.resetAndDestroy();
      resolve();
    };
    socket.once("connect", () => socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.includes("req=")) end();
    });
    socket.once("timeout", () => end("timeout"));
    socket.on("error", (e) => end(e.code));
  });

process.on("SIGTERM", () => {
  stopping = true;
  if (kind === "udp") report();
});
console.log("started");
if (kind === "tcp") {
  let next = 0;
  const lane = async () => {
    while (!stopping) {
      await once(Number(first) + (next++ % Number(last)));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  await Promise.all(Array.from({ length: Math.min(8, Number(last)) }, lane));
  report();
} else {
  const socket = createSocket("udp4");
  socket.on("message", (m) => heard(String(m)));
  socket.on("error", (e) => failures.push(e.code));
  socket.bind(Number(first), () => {
    setInterval(() => {
      sent++;
      socket.send("x", Number(port), ip);
    }, Number(last));
  });
}
