// @ts-check
/** The slots of a pool as a ring: outside each member's share, inside the slots as they lie. */
import { s } from "./dom.js";

const SIZE = 176;
const C = SIZE / 2;
const SHARE_RADIUS = 78;
const SHARE_WIDTH = 14;
const SLOT_RADIUS = 59;
const SLOT_WIDTH = 16;
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
  /** @type {Map<number, string[]>} */
  const runs = new Map();
  for (let from = 0; from < layout.length; ) {
    const id = /** @type {number} */ (layout[from]);
    let to = from + 1;
    while (to < layout.length && layout[to] === id) to++;
    const path = arc((from / slots) * 360, (to / slots) * 360, SLOT_RADIUS);
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
        "stroke-width": SLOT_WIDTH,
        "data-member": id,
      }),
    ),
    s("text", { x: C, y: C - 2, class: "ring-number" }, layout.length === 0 ? 0 : slots),
    s("text", { x: C, y: C + 15, class: "ring-label" }, layout.length === 0 ? "nobody serves" : "slots"),
  );
}
