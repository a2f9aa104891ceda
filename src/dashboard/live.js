// @ts-check
/** The event stream, read with fetch: EventSource cannot send a token. */
import { ApiError, tokenHeader } from "./api.js";

/** @typedef {import("../../controller/api/views.ts").EventView} LbEvent */
/**
 * @typedef {object} Listener
 * @property {(event: LbEvent) => void} event
 * @property {() => void} lost events were missed: all is to be asked for again
 * @property {(state: "live" | "waiting", error?: unknown) => void} state
 * @property {() => boolean} pause nothing is to be asked for now
 */

/** Without a word for so long, ms, the connection is given up: heartbeats come every 15 s. */
const SILENCE_MS = 40_000;

/**
 * Follows the events for good; comes back by itself, at the event it had last.
 * @param {Listener} listener
 */
export async function follow(listener) {
  let last = "";
  for (let failures = 0; ; failures++) {
    try {
      if (!listener.pause()) {
        await read(last, listener, (id) => {
          last = id;
          failures = 0;
        });
        listener.state("waiting");
      }
    } catch (e) {
      listener.state("waiting", e);
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** Math.min(failures, 3), 3000)));
  }
}

/**
 * @param {string} last
 * @param {Listener} listener
 * @param {(id: string) => void} seen
 */
async function read(last, listener, seen) {
  const abort = new AbortController();
  const response = await fetch("v1/events", {
    headers: { ...tokenHeader(), ...(last === "" ? {} : { "last-event-id": last }) },
    cache: "no-store",
    signal: abort.signal,
  });
  if (!response.ok || response.body === null) {
    throw new ApiError(response.status, `the event stream is refused (${response.status})`);
  }
  listener.state("live");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let timer = setTimeout(() => abort.abort(), SILENCE_MS);
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), SILENCE_MS);
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) take(block, listener, seen);
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {string} block
 * @param {Listener} listener
 * @param {(id: string) => void} seen
 */
function take(block, listener, seen) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  if (fields["event"] === "reset") listener.lost();
  else if (fields["id"] !== undefined && fields["data"] !== undefined) {
    seen(fields["id"]);
    listener.event(JSON.parse(fields["data"]));
  }
}
