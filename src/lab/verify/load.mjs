// Requests without end, as clients of a service make them: node load.mjs URL NEW-PER-SECOND KEPT-CONNECTIONS
//
// New requests have a connection each; every kept connection carries a request each 100 ms and is never opened again.
// A slow machine (OFLB_SLOW, see ../patience.ts) gets fewer, so that they are the same burden for it.
// Ends on SIGTERM, or after five minutes, with one line of JSON:
// {"sent":…,"failures":[{"at":ms,"error":"…"}],"backends":{"be1":…},"kept":[{"backends":["be1"],"answers":…,"error":"…"|null,"lastAt":ms}]}
import http from "node:http";

const slowness = Math.max(1, Number(process.env["OFLB_SLOW"]) || 1);
const [url, rateText = "0", keptText = "0"] = process.argv.slice(2);
const failures = [];
const backends = {};
let sent = 0;
let open = 0;
let stopping = false;

/** One request; calls back with the backend's name or with what went wrong. */
function ask(agent, done) {
  let over = false;
  const finish = (error, name) => {
    if (over) return;
    over = true;
    done(error, name);
  };
  const request = http.get(url, { agent, timeout: 5000 * slowness }, (response) => {
    let body = "";
    response.on("data", (chunk) => {
      body += chunk;
    });
    response.on("end", () => {
      const name = /backend=(\S+)/.exec(body)?.[1];
      if (response.statusCode === 200 && name) finish(null, name);
      else finish(`status ${response.statusCode}`);
    });
    response.on("error", (e) => finish(e.message));
  });
  request.on("timeout", () => request.destroy(new Error(`no answer within ${5 * slowness} s`)));
  request.on("error", (e) => finish(e.message));
}

function once() {
  const at = Date.now();
  sent++;
  open++;
  ask(false, (error, name) => {
    if (error) failures.push({ at, error });
    else backends[name] = (backends[name] ?? 0) + 1;
    open--;
    if (stopping && open === 0) report();
  });
}

const kept = Array.from({ length: Number(keptText) }, () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const connection = { backends: [], answers: 0, error: null, lastAt: 0 };
  let sockets = 0;
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (...args) => {
    if (++sockets > 1) connection.error ??= "the connection was opened again";
    return create(...args);
  };
  const next = () => {
    if (stopping || connection.error !== null) return;
    ask(agent, (error, name) => {
      if (error) connection.error ??= error;
      else {
        connection.answers++;
        connection.lastAt = Date.now();
        if (!connection.backends.includes(name)) connection.backends.push(name);
        setTimeout(next, 100 * slowness);
      }
    });
  };
  next();
  return connection;
});

function report() {
  // Out of the pipe before the end.
  process.stdout.write(`${JSON.stringify({ sent, failures, backends, kept })}\n`, () => process.exit(0));
}

function stop() {
  clearInterval(timer);
  stopping = true;
  if (open === 0) report();
}

const rate = Number(rateText) / slowness;
const timer = setInterval(once, rate > 0 ? 1000 / rate : 2 ** 30);
setTimeout(stop, 300_000 * slowness);
process.on("SIGTERM", stop);
process.stdout.write("started\n");
