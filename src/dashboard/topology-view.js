// @ts-check
/** The bridge with its segments, their ports, and who is behind them, drawn for the width there is. */
import { s } from "./dom.js";
import { shownState } from "./pools-view.js";

/** @typedef {import("../../controller/api/views.ts").SegmentView} Segment */
/** @typedef {import("../../controller/api/views.ts").PortView} Port */
/** @typedef {import("../../controller/api/views.ts").NeighbourView} Neighbour */
/** @typedef {import("../../controller/api/views.ts").HealthView} HealthView */
/** @typedef {import("../../controller/api/views.ts").NodeStatus} NodeStatus */
/**
 * @typedef {object} Picture
 * @property {readonly NodeStatus[]} nodes
 * @property {readonly Segment[]} segments
 * @property {readonly Port[]} ports
 * @property {readonly Neighbour[]} neighbours
 * @property {readonly HealthView[]} health
 */
/** @typedef {{name: string, state: string, text: string, note: string, isWorthSeeing?: boolean}} Row */

const ROW = 26;
const HEAD = 46;
const PAD = 14;
const GAP = 16;
const BRIDGE = 40;
const LINK = 22;
const LEAST = 250;
/** Ports drawn per segment; the rest is counted. */
const MOST_ROWS = 16;

/**
 * @param {Picture} picture
 * @param {number} width pixels
 */
export function drawTopology(picture, width) {
  const cards = picture.segments.map((segment) => ({ segment, rows: rowsOf(segment, picture) }));
  const upper = cards.filter((c) => c.segment.kind === "public");
  const lower = cards.filter((c) => c.segment.kind === "private");
  const columns = Math.max(1, Math.floor((width + GAP) / (LEAST + GAP)));
  return columns === 1 ? stacked(picture, [...upper, ...lower], width) : around(picture, upper, lower, width, columns);
}

/** Width of the widest usual letter in the drawing, px: SVG does not cut off text by itself. */
const LETTER = 7.3;

/**
 * Text cut off where there is no room for it.
 * @param {string} text
 * @param {number} room pixels
 */
function shortened(text, room) {
  const most = Math.max(1, Math.floor(room / LETTER));
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

/** @param {{segment: Segment, rows: readonly Row[]}} card */
const heightOf = ({ segment, rows }) => HEAD + (segment.vips.length + rows.length) * ROW + PAD;

/** @typedef {{segment: Segment, rows: readonly Row[]}} Card */

/**
 * Public segments above the bridge, private ones below.
 * @param {Picture} picture @param {readonly Card[]} upper @param {readonly Card[]} lower
 * @param {number} width @param {number} columns
 */
function around(picture, upper, lower, width, columns) {
  /** @type {SVGElement[]} */
  const drawn = [];
  let y = 0;
  /** @param {readonly Card[]} cards @param {boolean} above */
  const rows = (cards, above) => {
    for (let i = 0; i < cards.length; i += columns) {
      const line = cards.slice(i, i + columns);
      const w = (width - GAP * (line.length - 1)) / line.length;
      const height = Math.max(...line.map(heightOf));
      line.forEach((card, k) => {
        const x = k * (w + GAP);
        const mid = x + w / 2;
        const [from, to] = above ? [y + height, y + height + LINK] : [y - LINK, y];
        drawn.push(s("line", { x1: mid, x2: mid, y1: from, y2: to, class: "link" }));
        drawn.push(segmentCard(card, x, y, w, height));
      });
      y += height + LINK;
    }
  };
  rows(upper, true);
  drawn.push(bridge(picture, 0, y, width));
  y += BRIDGE + LINK;
  rows(lower, false);
  return frame(width, Math.max(BRIDGE, y - LINK), drawn, picture);
}

/**
 * One below the other, on a line at the left.
 * @param {Picture} picture @param {readonly Card[]} cards @param {number} width
 */
function stacked(picture, cards, width) {
  const drawn = [bridge(picture, 0, 0, width)];
  let y = BRIDGE + GAP;
  let last = BRIDGE;
  const x = 22;
  for (const card of cards) {
    const height = heightOf(card);
    last = y + HEAD / 2;
    drawn.push(s("line", { x1: 9, x2: x, y1: last, y2: last, class: "link" }));
    drawn.push(segmentCard(card, x, y, width - x, height));
    y += height + GAP;
  }
  drawn.push(s("line", { x1: 9, x2: 9, y1: BRIDGE, y2: last, class: "link" }));
  return frame(width, y - GAP, drawn, picture);
}

/** @param {number} width @param {number} height @param {readonly SVGElement[]} drawn @param {Picture} picture */
function frame(width, height, drawn, picture) {
  const label = picture.segments.map((x) => `segment ${x.name} ${x.subnet}`).join(", ");
  return s(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      class: "topology",
      role: "img",
      "aria-label": `Bridge with ${label}`,
    },
    ...drawn,
  );
}

/** @param {Picture} picture @param {number} x @param {number} y @param {number} width */
function bridge({ nodes }, x, y, width) {
  const names = nodes.map((n) => n.name).join(", ") || "no node";
  const isSteady = nodes.length > 0 && nodes.every((n) => n.state === "steady");
  const states = [...new Set(nodes.map((n) => n.state))].join(", ");
  return s(
    "g",
    { class: "bridge" },
    s("rect", { x: x + 0.5, y: y + 0.5, width: width - 1, height: BRIDGE - 1, rx: 6 }),
    s("circle", { cx: x + 19, cy: y + BRIDGE / 2, r: 4.5, class: isSteady ? "is-up" : "is-down" }),
    s("text", { x: x + 32, y: y + BRIDGE / 2 + 4.5, class: "strong" }, shortened(names, width / 2 - 32)),
    s(
      "text",
      { x: x + width - PAD, y: y + BRIDGE / 2 + 4.5, class: "end muted" },
      width > 420 ? `router · balancer · switch · ${states}` : states,
    ),
  );
}

/** @param {Card} card @param {number} x @param {number} y @param {number} width @param {number} height */
function segmentCard({ segment, rows }, x, y, width, height) {
  const right = x + width - PAD;
  let line = y + HEAD;
  const next = () => {
    const at = line + ROW / 2 + 4;
    line += ROW;
    return at;
  };
  return s(
    "g",
    { class: `segment ${segment.kind}` },
    s("rect", { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: 6 }),
    s("text", { x: x + PAD, y: y + 21, class: "strong" }, shortened(segment.name, width - PAD * 3 - 18 * LETTER)),
    s("text", { x: x + PAD, y: y + 37, class: "small muted" }, `${segment.kind} · reg0 ${segment.id}`),
    s("text", { x: right, y: y + 21, class: "end mono" }, segment.subnet),
    s("text", { x: right, y: y + 37, class: "end small muted mono" }, `gateway ${segment.gateway}`),
    ...segment.vips.map((vip) => {
      const at = next();
      return s(
        "g",
        { class: "vip" },
        s("rect", { x: x + 6, y: at - 16, width: width - 12, height: ROW - 3, rx: 4 }),
        s("text", { x: x + PAD, y: at, class: "small strong" }, "VIP"),
        s("text", { x: x + PAD + 30, y: at, class: "mono" }, vip.ip),
        s(
          "text",
          { x: right, y: at, class: "end small" },
          shortened(`${vip.loadBalancer} ${vip.listeners.join(" ")}`, width - 60 - PAD - 16 * LETTER),
        ),
      );
    }),
    ...rows.map((row) => {
      const at = next();
      return s(
        "g",
        { class: "port" },
        s("title", {}, `${row.name}: ${row.text} ${row.note} (${row.state})`),
        s("circle", { cx: x + PAD + 4, cy: at - 4, r: 4, class: `is-${row.state}` }),
        s("text", { x: x + PAD + 16, y: at, class: "mono" }, shortened(row.name, 62)),
        s("text", { x: x + PAD + 80, y: at, class: "small" }, row.text),
        s(
          "text",
          { x: right, y: at, class: `end small ${row.isWorthSeeing ? `is-${row.state}` : "muted"}` },
          shortened(row.note, width - 2 * PAD - 88 - row.text.length * LETTER),
        ),
      );
    }),
  );
}

/**
 * A row for each port, with the members behind it; then members whose port is not known.
 * @param {Segment} segment
 * @param {Picture} picture
 * @returns {Row[]}
 */
function rowsOf(segment, { ports, neighbours, health }) {
  const members = new Map(health.flatMap((p) => p.members).map((m) => [m.address.split(":")[0] ?? "", m]));
  const here = neighbours.filter((n) => n.segment === segment.name);
  const rows = ports
    .filter((p) => p.segment === segment.name)
    .map((p) => {
      const behind = here.filter((n) => n.port === p.name && n.node === p.node);
      const member = behind.map((n) => members.get(n.ip)).find((m) => m !== undefined);
      const state =
        p.state !== "up" ? (p.state === "missing" ? "unknown" : "down") : member ? shownState(member) : "up";
      const text =
        behind
          .map((n) => n.ip)
          .slice(0, 2)
          .join(" ") || (p.role === "uplink" ? "uplink" : p.ofport === null ? "" : `port ${p.ofport}`);
      const note =
        p.state !== "up"
          ? p.state === "missing"
            ? "no such port"
            : "port down"
          : member
            ? `${member.name === p.name ? "member" : member.name} ${state}`
            : "";
      return { name: p.name, state, text, note, isWorthSeeing: state !== "up" && note !== "" };
    });
  const lost = here
    .filter((n) => n.port === null)
    .map((n) => ({ name: n.usedBy[0] ?? "?", state: "unknown", text: n.ip, note: n.state }));
  const all = [...rows, ...lost];
  if (all.length <= MOST_ROWS) return all;
  const more = all.length - MOST_ROWS + 1;
  return [...all.slice(0, MOST_ROWS - 1), { name: "…", state: "unknown", text: `${more} more`, note: "" }];
}
