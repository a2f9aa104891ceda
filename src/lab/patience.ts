/**
 * How many times slower than an ordinary machine this one is, for limits of time: OFLB_SLOW, 1 unless told. A virtual
 * machine without help from the processor takes 5 to 8 times as long for everything.
 */
export const slowness = Math.max(1, Number(process.env["OFLB_SLOW"]) || 1);

/** Milliseconds, or seconds, to wait here for what takes at most `time` on an ordinary machine. */
export function patience(time: number): number {
  return time * slowness;
}
