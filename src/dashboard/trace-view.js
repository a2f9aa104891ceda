// @ts-check
/** A packet's way through the tables. */
import { $, breakable, h } from "./dom.js";

/** @typedef {import("../../controller/api/trace-views.ts").TraceView} Trace */
/** @typedef {import("../../controller/api/trace-views.ts").TraceStepView} Step */

export class TraceView {
  #ask;

  /** @param {(question: object) => Promise<Trace>} ask */
  constructor(ask) {
    this.#ask = ask;
    const form = /** @type {HTMLFormElement} */ ($("trace-form"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#run(new FormData(form));
    });
    form.querySelector("[name=proto]")?.addEventListener("change", () => this.#ports(form));
  }

  /**
   * Fills in what is most likely asked for, where nothing is yet.
   * @param {readonly import("../../controller/api/views.ts").SegmentView[]} segments
   */
  suggest(segments) {
    const form = /** @type {HTMLFormElement} */ ($("trace-form"));
    const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
    const select = field("segment");
    if (select.children.length === 1) select.append(...segments.map((x) => h("option", {}, x.name)));
    const open =
      segments.find((x) => x.kind === "public" && x.vips.length > 0) ?? segments.find((x) => x.vips.length > 0);
    const [vip] = open?.vips ?? [];
    if (open === undefined || vip === undefined || field("dst").value !== "") return;
    field("dst").value = vip.ip;
    field("src").value = `${open.subnet.split(".").slice(0, 3).join(".")}.77`;
    const [proto, port] = (vip.listeners[0] ?? "tcp/80").split("/");
    field("proto").value = proto ?? "tcp";
    field("dport").value = port ?? "80";
  }

  /** @param {HTMLFormElement} form */
  #ports(form) {
    const isIcmp = new FormData(form).get("proto") === "icmp";
    for (const name of ["dport", "sport"]) {
      /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).disabled = isIcmp;
    }
  }

  /** @param {FormData} data */
  async #run(data) {
    /** @type {Record<string, string | number | boolean>} */
    const question = {};
    for (const [name, value] of data) {
      if (typeof value !== "string" || value.trim() === "") continue;
      const text = value.trim();
      question[name] = name === "dport" || name === "sport" ? Number(text) : name === "reply" ? true : text;
    }
    try {
      $("trace-result").replaceChildren(result(await this.#ask(question)));
    } catch (e) {
      const message = e instanceof Error ? e.message : String(e);
      $("trace-result").replaceChildren(h("p", { class: "problem" }, message));
    }
  }
}

/** @param {Trace} t */
function result(t) {
  /** Values the registers had before a step. @type {Map<string, string>} */
  const before = new Map();
  return h(
    "div",
    { class: "trace" },
    h(
      "section",
      { class: "panel outcome", "aria-label": "Outcome" },
      h("p", { class: "verdict" }, ...verdict(t)),
      h("dl", { class: "facts" }, ...fact("packet", t.packet), ...t.outputs.flatMap((o) => changes(o))),
      ...t.assumptions.map((a) => h("p", { class: "muted" }, a)),
      t.learned.length > 0 && h("p", {}, "The switch would learn:"),
      t.learned.length > 0 &&
        h("ul", { class: "plain-list" }, ...t.learned.map((l) => h("li", {}, h("code", {}, ...breakable(l))))),
      ...t.unknown.map((u) => h("p", { class: "problem" }, `not simulated: ${u}`)),
    ),
    ...t.passes.map((pass, i) =>
      h(
        "section",
        { class: "panel pass", "aria-label": `Pass ${i + 1}` },
        h(
          "header",
          { class: "panel-head" },
          h("h2", {}, i === 0 ? "Through the tables" : `After conntrack`),
          pass.conntrack !== null && h("p", { class: "legend mono" }, pass.conntrack),
        ),
        h("ol", { class: "steps" }, ...pass.steps.map((x) => step(x, before))),
      ),
    ),
  );
}

/** @param {Trace} t */
function verdict(t) {
  if (t.outputs.length > 0) {
    const ports = t.outputs.map((o) => o.port);
    return [
      h("span", { class: "chip is-up" }, h("span", { class: "sign", "aria-hidden": "true" }), "leaves"),
      ` by ${ports.join(", ")}`,
    ];
  }
  if (t.punts.length > 0) {
    const [punt] = t.punts;
    return [
      h(
        "span",
        { class: "chip is-draining" },
        h("span", { class: "sign", "aria-hidden": "true" }),
        "to the controller",
      ),
      ` ${punt?.class}: ${punt?.purpose}`,
    ];
  }
  return [
    h("span", { class: "chip is-down" }, h("span", { class: "sign", "aria-hidden": "true" }), "dropped"),
    ` ${t.dropped ?? ""}`,
  ];
}

/** @param {string} name @param {string} value */
const fact = (name, value) => [h("dt", {}, name), h("dd", { class: "mono" }, value)];

/** @param {Trace["outputs"][number]} output */
function changes(output) {
  const changed = Object.entries(output.changed).map(([field, value]) => `${field}=${value}`);
  return fact(`leaves by ${output.port}`, changed.length > 0 ? `with ${changed.join(", ")}` : "unchanged");
}

/** @param {Step} x @param {Map<string, string>} before */
function step(x, before) {
  const changed = Object.entries(x.registers).filter(([name, value]) => before.get(name) !== value);
  for (const [name, value] of changed) before.set(name, value);
  const registers = changed.map(([name, value]) => `${name}=${value}`);
  return h(
    "li",
    { class: x.depth > 0 ? "inner" : "", "data-table": x.table },
    h("span", { class: "number" }, x.table),
    h(
      "div",
      { class: "step" },
      h("p", { class: "step-head" }, h("strong", {}, x.tableName), h("span", { class: "why" }, x.why)),
      h("code", { class: "flow-text" }, ...breakable(x.flow ?? "no flow matches")),
      ...x.notes.map((n) => h("p", { class: "muted" }, n)),
      registers.length > 0 && h("p", { class: "registers mono muted" }, `sets ${registers.join(", ")}`),
    ),
  );
}
