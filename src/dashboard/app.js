// @ts-check
/** The page: asks the daemon, follows its events, and hands what it knows to the views. */
import { ApiError, api, hasToken, setToken } from "./api.js";
import { askToken, confirm } from "./dialogs.js";
import { $, h, say } from "./dom.js";
import { EventList } from "./events-view.js";
import { FlowsView } from "./flows-view.js";
import { age, clock, count } from "./format.js";
import { follow } from "./live.js";
import { chip, PoolsView, sampleTraffic } from "./pools-view.js";
import { drawTopology } from "./topology-view.js";
import { TraceView } from "./trace-view.js";

/** @typedef {import("../../controller/api/views.ts").MemberHealthView} MemberHealth */
/** @typedef {import("../../controller/api/views.ts").HealthView} HealthView */

/** How often counters are read, ms. Everything else comes with events; this also repairs what one of them missed. */
const POLL_MS = 2000;
const VIEWS = ["overview", "flows", "trace", "events"];
/** Kinds of events after which what is shown may be wrong. */
const CHANGING = new Set(["node", "reconcile", "port", "neighbour", "health", "probe", "drain", "topology", "change"]);

/** What the daemon said last. */
const known = {
  /** @type {import("../../controller/api/views.ts").StatusView | undefined} */
  status: undefined,
  /** @type {readonly import("../../controller/api/views.ts").SegmentView[]} */
  segments: [],
  /** @type {readonly import("../../controller/api/views.ts").PortView[]} */
  ports: [],
  /** @type {readonly import("../../controller/api/views.ts").NeighbourView[]} */
  neighbours: [],
  /** @type {readonly HealthView[]} */
  health: [],
  /** @type {readonly import("../../controller/api/views.ts").SlotsView[]} */
  slots: [],
};

const pools = new PoolsView($("pools"), (member, pool) => void changeService(member, pool));
const flows = new FlowsView(() => api("v1/flows"));
const trace = new TraceView((question) => api("v1/trace", { method: "POST", body: question }));
const recent = new EventList($("recent"), 20);
const log = new EventList($("log"), 500);

/** Until there is a token that the daemon takes, nothing is asked for: each wrong one counts against this address. */
let isLocked = false;

/** Asks for a token until the daemon takes one, then starts anew. */
async function unlock() {
  if (isLocked) return;
  isLocked = true;
  let wrong = hasToken() ? "The daemon does not know the token that this tab has." : "";
  for (;;) {
    const token = await askToken(wrong);
    if (token === undefined) {
      wrong = "Without a token there is nothing to show.";
      continue;
    }
    try {
      await api("v1/status", { token });
      setToken(token);
      location.reload();
      return;
    } catch (e) {
      wrong = e instanceof ApiError && e.status === 401 ? "The daemon does not know this token." : sentence(e);
    }
  }
}

/** @param {unknown} error */
function sentence(error) {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof ApiError ? message : `The daemon does not answer (${message}).`;
}

/** Something that was to be shown could not be asked for. @param {unknown} error */
function problem(error) {
  if (error instanceof ApiError && error.status === 401) return void unlock();
  // That the connection is lost is said already.
  if (!(error instanceof ApiError) && !$("lost").hidden) return;
  say($("problem"), sentence(error));
  $("problem").hidden = false;
}

/** Something that was to be done was refused; told until it has been read. @param {string} text */
function refused(text) {
  say($("refused-text"), text);
  $("refused").hidden = false;
}

let healthAsked = 0;
let healthKnown = 0;

/** Asks for the members' health alone, which waits for nothing; an answer that was overtaken is not shown. */
async function refreshHealth() {
  const number = ++healthAsked;
  /** @type {readonly HealthView[]} */
  const health = await api("v1/health");
  if (number < healthKnown) return;
  healthKnown = number;
  known.health = health;
  pools.show(known.health, known.slots);
  showTopology();
}

let asking = false;
let again = false;

/** Asks for everything that is shown, once at a time. */
async function refresh() {
  if (isLocked) return;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    // First by itself: where a token is needed, one refusal is enough.
    known.status = await api("v1/status");
    const [segments, ports, neighbours] = await Promise.all([
      api("v1/segments"),
      api("v1/ports"),
      api("v1/neighbours"),
      refreshHealth(),
    ]);
    Object.assign(known, { segments, ports, neighbours });
    show();
    // The switch is asked for its counters: what the daemon knows by itself does not wait for that.
    known.slots = await api("v1/slots");
    sampleTraffic(known.slots, performance.now());
    $("problem").hidden = true;
    pools.show(known.health, known.slots);
  } catch (e) {
    problem(e);
  } finally {
    asking = false;
    if (again) {
      again = false;
      void refresh();
    }
  }
}

function show() {
  showNodes();
  pools.show(known.health, known.slots);
  showTopology();
  trace.suggest(known.segments);
  const { status } = known;
  if (status === undefined) return;
  say(
    $("foot"),
    `openflow-lb ${status.version} · up ${age(status.uptimeSeconds)} · switches connect to ${status.openflow} · ${status.topology}`,
  );
}

function showNodes() {
  const { status } = known;
  if (status === undefined) return;
  const cards = status.nodes.map((n) =>
    h(
      "dl",
      { class: "node" },
      ...[
        ["node", h("strong", {}, n.name)],
        [
          "state",
          chip(n.state === "steady" ? "up" : n.state === "disconnected" || n.state === "refused" ? "down" : "unknown"),
        ],
        ["datapath", h("span", { class: "mono" }, n.datapathId ?? "none yet")],
        ["switch", h("span", { class: "mono" }, n.peer ?? "away")],
        ["flows", n.flows],
        ["drift repaired", n.driftRepaired],
        ["checked", n.secondsSinceCheck === null ? "never" : `${age(n.secondsSinceCheck)} ago`],
        ...(n.lastError === null ? [] : [["last error", n.lastError]]),
      ].map(([name, value]) => h("div", {}, h("dt", {}, String(name)), h("dd", {}, /** @type {Node} */ (value)))),
    ),
  );
  cards.forEach((card, i) => {
    const state = card.querySelector(".chip");
    if (state?.lastChild) state.lastChild.textContent = status.nodes[i]?.state ?? "";
  });
  const reload =
    status.reloadError === null
      ? []
      : [h("p", { class: "problem" }, `The topology file was not reloaded: ${status.reloadError}`)];
  $("nodes").replaceChildren(...cards, ...reload);
}

let drawnWidth = 0;
let drawn = "";

function showTopology() {
  const root = $("topology");
  const { paddingLeft, paddingRight } = getComputedStyle(root);
  const width = Math.floor(root.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight));
  if (width <= 0 || known.status === undefined) return;
  const picture = {
    nodes: known.status.nodes,
    segments: known.segments,
    ports: known.ports,
    neighbours: known.neighbours,
    health: known.health,
  };
  const svg = drawTopology(picture, width);
  // The picture is mostly the same as before.
  if (width === drawnWidth && svg.outerHTML === drawn) return;
  drawnWidth = width;
  drawn = svg.outerHTML;
  root.replaceChildren(svg);
  const up = known.ports.filter((p) => p.state === "up").length;
  say(
    $("topology-legend"),
    `${count(known.segments.length, "segment")}, ${up} of ${count(known.ports.length, "port")} up`,
  );
}

/** @param {MemberHealth} member @param {HealthView} pool */
async function changeService(member, pool) {
  const drains = member.admin === "enabled";
  const verb = drains ? "drain" : "enable";
  const text = drains
    ? `${member.name} (${member.address}) gets no new connections. Those it has go on, and so do its probes. ` +
      `${count(member.slots, "slot")} of ${pool.slots} move to the other members.`
    : `${member.name} (${member.address}) gets connections again as soon as its probes allow.`;
  const title = `${drains ? "Drain" : "Enable"} ${member.name}?`;
  if (!(await confirm({ title, text, yes: drains ? "Drain" : "Enable" }))) return;
  try {
    await api(`v1/members/${encodeURIComponent(member.uuid)}/${verb}`, { method: "POST" });
    say($("said"), `${member.name} is ${drains ? "draining" : "enabled"}`);
    await refresh();
  } catch (e) {
    if (e instanceof ApiError && e.status === 401) return void unlock();
    refused(`${member.name} was not ${drains ? "drained" : "enabled"}: ${sentence(e)}`);
    if (e instanceof ApiError && e.status === 403) pools.forbid(e.message);
  }
}

function navigate() {
  const wanted = location.hash.slice(1);
  const view = VIEWS.includes(wanted) ? wanted : "overview";
  for (const name of VIEWS) $(`view-${name}`).hidden = name !== view;
  for (const link of document.querySelectorAll(".tabs a")) {
    if (link.getAttribute("href") === `#${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (view === "flows") flows.refresh().catch(problem);
  if (view === "overview") showTopology();
}

/** @param {"live" | "waiting"} state */
function showLive(state) {
  $("live").dataset["state"] = state;
  const text = $("live").querySelector(".live-text");
  if (text !== null) say(text, state === "live" ? "live" : "connection lost");
  const lost = $("lost");
  if (state === "live") lost.hidden = true;
  else if (lost.hidden && known.status !== undefined) {
    say(lost, `Connection lost at ${clock(new Date().toISOString())}. What is shown is from then; trying again.`);
    lost.hidden = false;
    $("problem").hidden = true;
  }
}

function filterEvents() {
  const kind = /** @type {HTMLSelectElement} */ ($("event-kind")).value;
  const warn = /** @type {HTMLInputElement} */ ($("event-warn")).checked;
  log.filter((e) => (kind === "" || e.kind === kind) && (!warn || e.level === "warn"));
}

let isRefreshDue = false;

/** Several events come at once when something happens; they are answered together. */
function refreshSoon() {
  if (isRefreshDue) return;
  isRefreshDue = true;
  setTimeout(() => {
    isRefreshDue = false;
    if (!isLocked) refreshHealth().catch(problem);
    void refresh();
  }, 20);
}

/** @param {import("../../controller/api/views.ts").EventView} event */
function happened(event) {
  recent.add(event);
  log.add(event);
  const select = $("event-kind");
  if (![...select.children].some((o) => o.getAttribute("value") === event.kind)) {
    select.append(h("option", { value: event.kind }, event.kind));
  }
  if (CHANGING.has(event.kind)) refreshSoon();
}

addEventListener("hashchange", navigate);
$("refused-close").addEventListener("click", () => {
  $("refused").hidden = true;
});
addEventListener("keydown", (event) => {
  const busy = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key !== "/" || busy || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  location.hash = "#flows";
  setTimeout(() => $("flow-search").focus());
});
for (const id of ["event-kind", "event-warn"]) $(id).addEventListener("input", filterEvents);
new ResizeObserver(() => showTopology()).observe($("topology"));
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void refresh();
});
setInterval(() => {
  if (!document.hidden) void refresh();
}, POLL_MS);

navigate();
await refresh();
void follow({
  event: happened,
  lost: () => void refresh(),
  pause: () => isLocked,
  state: (state, error) => {
    if (error instanceof ApiError && error.status === 401) return problem(error);
    showLive(state);
    if (state === "live") void refresh();
  },
});
