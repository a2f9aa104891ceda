// @ts-check
/** Flows table by table, with what each is for. */
import { $, breakable, h, say } from "./dom.js";
import { count, short } from "./format.js";

/** @typedef {import("../../controller/api/views.ts").FlowView} Flow */

/** Rows shown per table before one asks for all: the slots alone are a thousand. */
const FIRST = 60;
/** What a flow's text begins with and the list shows beside it. */
const PLACE = /^table=\d+, ?priority=\d+,?/;

export class FlowsView {
  /** @type {readonly Flow[]} */
  #flows = [];
  #load;
  /** Tables of which all rows are shown. @type {Set<string>} */
  #whole = new Set();

  /** @param {() => Promise<readonly Flow[]>} load */
  constructor(load) {
    this.#load = load;
    $("flow-filters").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.refresh();
    });
    for (const id of ["flow-table", "flow-search", "flow-hit"]) $(id).addEventListener("input", () => this.#show());
  }

  async refresh() {
    this.#flows = await this.#load();
    /** @type {HTMLSelectElement} */
    const select = $("flow-table");
    const chosen = select.value;
    const tables = new Map(this.#flows.map((f) => [String(f.table), `${f.table} ${f.tableName}`]));
    const options = [...tables].map(([id, name]) => {
      const n = this.#flows.filter((f) => String(f.table) === id).length;
      return h("option", { value: id }, `${name} (${n})`);
    });
    select.replaceChildren(h("option", { value: "" }, "all tables"), ...options);
    select.value = tables.has(chosen) ? chosen : "";
    this.#show();
  }

  #show() {
    const table = /** @type {HTMLSelectElement} */ ($("flow-table")).value;
    const search = /** @type {HTMLInputElement} */ ($("flow-search")).value.trim().toLowerCase();
    const hit = /** @type {HTMLInputElement} */ ($("flow-hit")).checked;
    const words = search.split(/\s+/).filter((w) => w !== "");
    const found = this.#flows.filter((f) => {
      if (table !== "" && String(f.table) !== table) return false;
      if (hit && f.packets === "0") return false;
      const text = `${f.text} ${f.why} ${f.feature} ${f.object} ${f.cookie}`.toLowerCase();
      return words.every((w) => text.includes(w));
    });
    const all = this.#flows.length;
    say($("flow-count"), count(found.length, "flow") + (found.length < all ? ` of ${all}` : ""));
    /** @type {Map<string, Flow[]>} */
    const groups = new Map();
    for (const f of found) {
      const key = `${f.node} ${f.table}`;
      groups.set(key, [...(groups.get(key) ?? []), f]);
    }
    const nodes = new Set(this.#flows.map((f) => f.node)).size;
    if (found.length === 0) {
      const why = all === 0 ? "The switch has no flows, or none is connected." : "No flow has all these words.";
      $("flow-list").replaceChildren(h("p", { class: "panel empty" }, why));
      return;
    }
    $("flow-list").replaceChildren(...[...groups].map(([key, flows]) => this.#group(key, flows, words, nodes > 1)));
  }

  /** @param {string} key @param {readonly Flow[]} flows @param {readonly string[]} words @param {boolean} several */
  #group(key, flows, words, several) {
    const [first] = flows;
    const shown = this.#whole.has(key) ? flows : flows.slice(0, FIRST);
    const id = `flows-${key.replace(/\W/g, "-")}`;
    const rest = flows.length - shown.length;
    return h(
      "section",
      { class: "panel flows", "aria-labelledby": id },
      h(
        "header",
        { class: "panel-head" },
        h("h2", { id }, h("span", { class: "number" }, first?.table ?? ""), first?.tableName ?? ""),
        h(
          "p",
          { class: "legend" },
          `${several ? `${first?.node} · ` : ""}${first?.tablePurpose ?? ""} · ${count(flows.length, "flow")}`,
        ),
      ),
      h("ul", { class: "flow-rows" }, ...shown.map((f) => row(f, words))),
      rest > 0 &&
        h(
          "button",
          {
            type: "button",
            class: "plain more",
            click: () => {
              this.#whole.add(key);
              this.#show();
            },
          },
          `Show ${rest} more`,
        ),
    );
  }
}

/** @param {Flow} f @param {readonly string[]} words */
function row(f, words) {
  return h(
    "li",
    { class: f.packets === "0" ? "quiet" : "" },
    h("span", { class: "priority mono", title: "priority" }, f.priority),
    h("code", { class: "flow-text" }, ...marked(f.text.replace(PLACE, ""), words)),
    h("span", { class: "why" }, h("span", { class: "kind" }, f.feature), ...marked(f.why, words)),
    h(
      "span",
      { class: "hits figure", title: `${f.packets} packets, ${f.bytes} bytes` },
      `${short(Number(f.packets))} pkts`,
    ),
  );
}

/**
 * Text with the words one searched for marked.
 * @param {string} text
 * @param {readonly string[]} words
 */
function marked(text, words) {
  const lower = text.toLowerCase();
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  let at = 0;
  while (at < text.length) {
    /** @type {{start: number, length: number} | undefined} */
    let best;
    for (const w of words) {
      const start = lower.indexOf(w, at);
      if (start >= 0 && (best === undefined || start < best.start)) best = { start, length: w.length };
    }
    if (best === undefined) break;
    parts.push(
      ...breakable(text.slice(at, best.start)),
      h("mark", {}, text.slice(best.start, best.start + best.length)),
    );
    at = best.start + best.length;
  }
  parts.push(...breakable(text.slice(at)));
  return parts;
}
