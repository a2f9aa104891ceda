// @ts-check
/** Numbers and times as people read them. */

const UNITS = ["", "k", "M", "G", "T"];

/** @param {number} value */
function scaled(value) {
  let v = value;
  let unit = 0;
  while (v >= 999.5 && unit < UNITS.length - 1) {
    v /= 1000;
    unit++;
  }
  const digits = unit === 0 && Number.isInteger(v) ? 0 : v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
  return { figure: v.toFixed(digits), unit: UNITS[unit] ?? "" };
}

/**
 * Three digits and a unit: 0, 12.3k, 4.56M.
 * @param {number} value
 */
export function short(value) {
  const { figure, unit } = scaled(value);
  return `${figure}${unit}`;
}

/**
 * Bits per second.
 * @param {number} bytes per second
 */
export function bits(bytes) {
  const { figure, unit } = scaled(bytes * 8);
  return `${figure} ${unit}bit/s`;
}

/** @param {number | null} seconds */
export function age(seconds) {
  if (seconds === null) return "never";
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** @param {number} share 0…1 */
export const percent = (share) => `${(share * 100).toFixed(1)} %`;

/** @param {string} at ISO 8601 */
export const clock = (at) => new Date(at).toLocaleTimeString([], { hour12: false });

/** @param {number} n @param {string} word */
export const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
