// @ts-check
/** A small plot of the last minutes, and the rates it is made of. */
import { s } from "./dom.js";

const WIDTH = 132;
const HEIGHT = 30;
/** Samples kept: two minutes at one per two seconds. */
const KEPT = 60;

/** Rates from counters that are read again and again. */
export class Rates {
  /** @type {{at: number, packets: number, bytes: number} | undefined} */
  #last;
  /** Bytes per second, the newest last. @type {number[]} */
  history = [];
  packetsPerSecond = 0;
  bytesPerSecond = 0;

  /** @param {string} packets @param {string} bytes @param {number} now ms */
  sample(packets, bytes, now) {
    const next = { at: now, packets: Number(packets), bytes: Number(bytes) };
    const last = this.#last;
    this.#last = next;
    if (last === undefined || now <= last.at) return;
    const seconds = (now - last.at) / 1000;
    // A flow that was made anew counts from 0.
    this.packetsPerSecond = Math.max(0, next.packets - last.packets) / seconds;
    this.bytesPerSecond = Math.max(0, next.bytes - last.bytes) / seconds;
    this.history.push(this.bytesPerSecond);
    if (this.history.length > KEPT) this.history.shift();
  }
}

/**
 * @param {readonly number[]} values
 * @param {number} most the top of the plot, the same for all members of a pool
 * @param {number} colour
 * @param {string} label
 */
export function spark(values, most, colour, label) {
  const step = WIDTH / (KEPT - 1);
  const left = WIDTH - (values.length - 1) * step;
  const y = (/** @type {number} */ v) => HEIGHT - 1 - (most > 0 ? (v / most) * (HEIGHT - 4) : 0);
  const points = values.map((v, i) => `${(left + i * step).toFixed(1)} ${y(v).toFixed(1)}`);
  return s(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: `spark c${colour}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
    },
    s("line", { x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5, class: "spark-base" }),
    points.length > 1 &&
      s("path", { d: `M${left.toFixed(1)} ${HEIGHT}L${points.join("L")}L${WIDTH} ${HEIGHT}Z`, class: "spark-area" }),
    points.length > 1 && s("path", { d: `M${points.join("L")}`, class: "spark-line" }),
  );
}
