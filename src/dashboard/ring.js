// @ts-check
/** The slots of a pool: outside each member's share, inside every slot as it lies, on as many circles as it takes. */
import { s } from "./dom.js";

const SIZE = 208;
const C = SIZE / 2;
const SHARE_RADIUS = 96;
const SHARE_WIDTH = 11;
/** The slots lie between these radii. */
const OUTER = 86;
const INNER = 38;
/** Slots on one circle, if there are so many: more of them could not be told apart. */
const PER_CIRCLE = 128;
const MOST_CIRCLES = 8;
/** Degrees left free between two shares. */
const GAP = 1.2;

/** @param {number} degrees from the top, clockwise @param {number} radius */
const at = (degrees, radius) => {
  const a = ((degrees - 90) * Math.PI) / 180;
  return `${(C + radius * Math.cos(a)).toFixed(2)} ${(C + radius * Math.sin(a)).toFixed(2)}`;
};

/** @param {number} from @param {number} to @param {number} radius */
function arc(from, to, radius) {
  const end = Math.min(to, from + 359.99);
  return `M${at(from, radius)}A${radius} ${radius} 0 ${end - from > 180 ? 1 : 0} 1 ${at(end, radius)}`;
}

/**
 * @param {import("../../controller/api/views.ts").SlotsView} pool
 * @param {ReadonlyMap<number, number>} colours by member id
 */
export function ring(pool, colours) {
  const { layout, slots } = pool;
  const circles = Math.min(MOST_CIRCLES, Math.max(1, Math.ceil(slots / PER_CIRCLE)));
  const perCircle = Math.ceil(slots / circles);
  const pitch = Math.min(12, (OUTER - INNER) / circles);
  /** @type {Map<number, string[]>} */
  const runs = new Map();
  for (let from = 0; from < layout.length; ) {
    const id = /** @type {number} */ (layout[from]);
    const circle = Math.floor(from / perCircle);
    const end = Math.min(layout.length, (circle + 1) * perCircle);
    let to = from + 1;
    while (to < end && layout[to] === id) to++;
    const degrees = (/** @type {number} */ slot) => ((slot - circle * perCircle) / perCircle) * 360;
    const path = arc(degrees(from), degrees(to), OUTER - (circle + 0.5) * pitch);
    runs.set(id, [...(runs.get(id) ?? []), path]);
    from = to;
  }
  let start = 0;
  const shares = pool.members
    .filter((m) => m.slots > 0)
    .map((m) => {
      const from = start;
      start += m.share * 360;
      const gap = m.share < 1 ? Math.min(GAP, (m.share * 360) / 2) : 0;
      return s("path", {
        d: arc(from + gap / 2, start - gap / 2, SHARE_RADIUS),
        class: `share c${colours.get(m.id) ?? 0}`,
        "stroke-width": SHARE_WIDTH,
        "data-member": m.id,
      });
    });
  const label = pool.members.map((m) => `${m.name} ${m.slots}`).join(", ");
  return s(
    "svg",
    { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "ring", role: "img", "aria-label": `${slots} slots: ${label}` },
    layout.length === 0 &&
      s("circle", { cx: C, cy: C, r: SHARE_RADIUS, class: "ring-empty", "stroke-width": SHARE_WIDTH }),
    ...shares,
    ...[...runs].map(([id, paths]) =>
      s("path", {
        d: paths.join(""),
        class: `slots c${colours.get(id) ?? 0}`,
        "stroke-width": Math.max(1, pitch - 0.8),
        "data-member": id,
      }),
    ),
    s("text", { x: C, y: C + 2, class: "ring-number" }, layout.length === 0 ? 0 : slots),
    s("text", { x: C, y: C + 18, class: "ring-label" }, layout.length === 0 ? "nobody serves" : "slots"),
  );
}
