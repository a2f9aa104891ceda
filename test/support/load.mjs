// A steady load for tests: node load.mjs URL REQUESTS_PER_SECOND SECONDS
// Each request has a connection of its own. Ends early on SIGTERM. Prints one line of JSON:
// {"sent":…,"ok":…,"failures":["…"],"backends":{"be1":…}}
import http from "node:http";

const [url, rate, seconds] = process.argv.slice(2);
/** See src/lab/patience.ts. */
const patienceMs = 5000 * Math.max(1, Number(process.env.OFLB_SLOW) || 1);
const failures = [];
const backends = {};
let sent = 0;
let ok = 0;
let open = 0;
let stopping = false;

function once() {
  sent++;
  open++;
  const started = Date.now();
  const finish = (failure) => {
    if (failure) failures.push(`request ${sent} after ${Date.now() - started} ms: ${failure}`);
    else ok++;
    open--;
    if (stopping && open === 0) report();
  };
  const request = http.get(url, { agent: false, timeout: patienceMs }, (response) => {
    let body = "";
    response.on("data", (chunk) => {
      body += chunk;
    });
    response.on("end", () => {
      const name = /backend=(\S+)/.exec(body)?.[1];
      if (name) backends[name] = (backends[name] ?? 0) + 1;
      finish(response.statusCode === 200 && name ? undefined : `status ${response.statusCode}`);
    });
    response.on("error", (e) => finish(e.message));
  });
  request.on("timeout", () => request.destroy(new Error(`no answer within ${patienceMs} ms`)));
  request.on("error", (e) => finish(e.message));
}

function report() {
  const text = JSON.stringify({ sent, ok, failures: failures.slice(0, 20), failed: failures.length, backends });
  // Out of the pipe before the end.
  process.stdout.write(`${text}\n`, () => process.exit(0));
}

function stop() {
  clearInterval(timer);
  stopping = true;
  if (open === 0) report();
}

const timer = setInterval(once, 1000 / Number(rate));
setTimeout(stop, Number(seconds) * 1000);
process.on("SIGTERM", stop);
process.stdout.write("started\n");
