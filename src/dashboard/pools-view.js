// @ts-check
/** Pools with their slots, and members with health, share, traffic, and the way in and out of service. */
import { h, say } from "./dom.js";
import { age, bits, count, percent, short } from "./format.js";
import { ring } from "./ring.js";
import { Rates, spark } from "./spark.js";

/** @typedef {import("../../controller/api/views.ts").SlotsView} SlotsView */
/** @typedef {import("../../controller/api/views.ts").HealthView} HealthView */
/** @typedef {import("../../controller/api/views.ts").MemberHealthView} MemberHealth */
/** @typedef {import("../../controller/api/views.ts").SlotMemberView} SlotMember */

/** Colours that are told apart; more members than that share them. */
const COLOURS = 8;

/** @type {Map<string, Rates>} */
const rates = new Map();

/**
 * What is shown of a member's state: one word for both what the operator and what the probes say.
 * @param {MemberHealth} member
 * @returns {"up" | "down" | "unknown" | "draining" | "disabled" | "unmonitored"}
 */
export function shownState(member) {
  if (member.admin === "disabled") return "disabled";
  if (member.state === "down") return "down";
  if (member.admin === "draining") return "draining";
  return /** @type {"up" | "unknown" | "unmonitored"} */ (member.state);
}

/** @param {string} state */
export const chip = (state) =>
  h("span", { class: `chip is-${state}` }, h("span", { class: "sign", "aria-hidden": "true" }), state);

/** @param {readonly {id: number}[]} members */
export const coloursOf = (members) => new Map(members.map((m, i) => [m.id, i % COLOURS]));

/**
 * @param {readonly SlotsView[]} pools
 * @param {number} now ms
 */
export function sampleTraffic(pools, now) {
  for (const pool of pools) {
    for (const m of pool.members) {
      const key = `${pool.poolId} ${m.id}`;
      const kept = rates.get(key) ?? new Rates();
      rates.set(key, kept);
      kept.sample(m.packets, m.bytes, now);
    }
  }
}

/**
 * The pools as cards. Elements stay the same as long as the pools have the same members, so that focus stays where it is.
 */
export class PoolsView {
  #root;
  #act;
  #key = "";
  #forbidden = "";
  /** @type {Map<number, PoolCard>} */
  #cards = new Map();

  /**
   * @param {HTMLElement} root
   * @param {(member: MemberHealth, pool: HealthView) => void} act drain or enable
   */
  constructor(root, act) {
    this.#root = root;
    this.#act = act;
  }

  /** Nothing can be changed from here. @param {string} why */
  forbid(why) {
    this.#forbidden = why;
    for (const card of this.#cards.values()) card.forbid(why);
  }

  /** @param {readonly HealthView[]} health @param {readonly SlotsView[]} slots */
  show(health, slots) {
    const key = JSON.stringify(health.map((p) => [p.poolId, p.pool, p.loadBalancer, p.members.map((m) => m.uuid)]));
    if (key !== this.#key) {
      this.#key = key;
      this.#cards = new Map(health.map((p) => [p.poolId, new PoolCard(p, this.#act)]));
      this.#root.replaceChildren(...[...this.#cards.values()].map((c) => c.element));
      if (this.#forbidden !== "") this.forbid(this.#forbidden);
    }
    if (health.length === 0 && this.#root.children.length === 0) this.#root.append(nothing());
    for (const p of health)
      this.#cards.get(p.poolId)?.show(
        p,
        slots.find((x) => x.poolId === p.poolId),
      );
  }
}

const nothing = () =>
  h(
    "section",
    { class: "panel", "aria-labelledby": "h-no-pool" },
    h("header", { class: "panel-head" }, h("h2", { id: "h-no-pool" }, "Pools")),
    h(
      "p",
      { class: "empty" },
      "There are no pools yet. A load balancer comes from the topology file or through the API; it is shown here at once.",
    ),
  );

class PoolCard {
  #act;
  #summary = h("p", { class: "legend" });
  #ring = h("div", { class: "ring-box" });
  #digest = "";
  /** @type {Map<string, MemberRow>} */
  #rows;

  /** @param {HealthView} pool @param {(member: MemberHealth, pool: HealthView) => void} act */
  constructor(pool, act) {
    this.#act = act;
    this.#rows = new Map(pool.members.map((m, i) => [m.uuid, new MemberRow(i % COLOURS)]));
    const id = `pool-${pool.poolId}`;
    this.element = h(
      "section",
      { class: "panel pool", "aria-labelledby": id },
      h("header", { class: "panel-head" }, h("h2", { id }, `Pool ${pool.pool}`), this.#summary),
      h(
        "div",
        { class: "pool-body" },
        this.#ring,
        h(
          "table",
          { class: "members" },
          h("caption", { class: "sr" }, `Members of pool ${pool.pool}`),
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ...["Member", "Health", "Share", "Traffic", "Service"].map((t) => h("th", { scope: "col" }, t)),
            ),
          ),
          h("tbody", {}, ...[...this.#rows.values()].map((r) => r.element)),
        ),
      ),
    );
  }

  /** @param {string} why */
  forbid(why) {
    for (const row of this.#rows.values()) row.forbid(why);
  }

  /** @param {HealthView} pool @param {SlotsView | undefined} slots */
  show(pool, slots) {
    const { monitor } = pool;
    const probing = monitor
      ? `${monitor.type} probe every ${monitor.interval} s, up after ${monitor.rise}, down after ${monitor.fall}`
      : "no health monitor";
    say(this.#summary, `${pool.loadBalancer} · ${probing} · layout ${pool.digest.slice(0, 8)}`);
    const digest = `${slots?.digest} ${slots?.layout.length}`;
    if (slots && digest !== this.#digest) {
      this.#digest = digest;
      this.#ring.replaceChildren(ring(slots, coloursOf(pool.members)));
    }
    const own = pool.members.map((m) => rates.get(`${pool.poolId} ${m.id}`));
    const most = Math.max(0, ...own.flatMap((r) => r?.history ?? []));
    pool.members.forEach((m, i) => {
      const share = slots?.members.find((x) => x.id === m.id);
      this.#rows.get(m.uuid)?.show(m, pool.slots, share, own[i], most, () => this.#act(m, pool));
    });
  }
}

class MemberRow {
  #colour;
  #name = h("span", { class: "name" });
  #address = h("span", { class: "mono muted" });
  #state = h("div", {});
  #reason = h("div", { class: "muted reason" });
  #share = h("span", { class: "figure" });
  #weight = h("span", { class: "muted" });
  #filling = h("span", {});
  #bar = h("div", { "aria-hidden": "true" }, this.#filling);
  #spark = h("div", {});
  #rate = h("div", { class: "muted figure" });
  #button = h("button", { type: "button", class: "plain" });
  #shownState = "";
  #forbidden = "";
  /** @type {() => void} */
  #act = () => undefined;

  /** @param {number} colour */
  constructor(colour) {
    this.#colour = colour;
    this.#bar.className = `share-bar c${colour}`;
    this.#button.addEventListener("click", () => this.#act());
    const swatch = h("span", { class: `swatch c${colour}`, "aria-hidden": "true" });
    this.element = h(
      "tr",
      {},
      h("th", { scope: "row" }, swatch, h("span", { class: "stack" }, this.#name, this.#address)),
      h("td", { class: "health" }, this.#state, this.#reason),
      h("td", { class: "share-cell" }, h("div", { class: "pair" }, this.#share, this.#weight), this.#bar),
      h("td", { class: "traffic" }, this.#spark, this.#rate),
      h("td", { class: "service" }, this.#button),
    );
  }

  /** @param {string} why */
  forbid(why) {
    this.#forbidden = why;
    this.#button.disabled = true;
    this.#button.title = why;
  }

  /**
   * @param {MemberHealth} member
   * @param {number} slotCount of the pool
   * @param {SlotMember | undefined} slot
   * @param {Rates | undefined} rate
   * @param {number} most
   * @param {() => void} act
   */
  show(member, slotCount, slot, rate, most, act) {
    this.#act = act;
    const state = shownState(member);
    this.element.setAttribute("data-state", state);
    say(this.#name, member.name);
    say(this.#address, member.address);
    if (state !== this.#shownState) {
      this.#shownState = state;
      this.#state.replaceChildren(chip(state));
    }
    const reasons = member.nodes.map((p) => {
      const told = p.reason ?? (p.adopted ? "taken over from the switch" : "not probed yet");
      const ms = p.ms === null ? "" : ` · ${p.ms.toFixed(1)} ms`;
      return `${member.nodes.length > 1 ? `${p.node}: ` : ""}${told}${ms} · for ${age(p.secondsInState)}`;
    });
    say(this.#reason, reasons.join("; ") || member.eligibility);
    this.#reason.title = member.nodes
      .flatMap((p) =>
        p.history.map((r) => `${new Date(r.at).toLocaleTimeString()} ${r.ok ? "ok" : "failed"}: ${r.reason}`),
      )
      .join("\n");
    // Of the same moment as the slots beside it.
    const share = slotCount > 0 ? member.slots / slotCount : 0;
    say(this.#share, percent(share));
    say(this.#weight, `${count(member.slots, "slot")}, weight ${slot?.weight ?? 1}`);
    this.#filling.style.width = `${share * 100}%`;
    const perSecond = rate?.bytesPerSecond ?? 0;
    const text = `${short(Math.round(rate?.packetsPerSecond ?? 0))} packets/s · ${bits(perSecond)}`;
    say(this.#rate, text);
    this.#spark.replaceChildren(spark(rate?.history ?? [], most, this.#colour, `traffic of ${member.name}: ${text}`));
    const drains = member.admin === "enabled";
    say(this.#button, drains ? "Drain" : "Enable");
    this.#button.disabled = member.admin === "disabled" || this.#forbidden !== "";
    this.#button.setAttribute("aria-label", `${drains ? "Drain" : "Enable"} ${member.name}`);
  }
}
