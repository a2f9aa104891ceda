// @ts-check
/** Lists of events. */
import { h } from "./dom.js";
import { clock } from "./format.js";

/** @typedef {import("../../controller/api/views.ts").EventView} LbEvent */

/** @param {LbEvent} event */
export const eventItem = (event) =>
  h(
    "li",
    { class: `event is-${event.level}`, "data-id": event.id },
    h("time", { datetime: event.at, title: event.at, class: "mono muted" }, clock(event.at)),
    h("span", { class: "kind" }, event.kind),
    h("span", { class: "what" }, event.text),
  );

/** A list that shows the newest event first and only those wanted. */
export class EventList {
  #root;
  #most;
  /** @type {(event: LbEvent) => boolean} */
  #wanted = () => true;
  /** @type {LbEvent[]} */
  #events = [];

  /** @param {HTMLElement} root @param {number} most */
  constructor(root, most) {
    this.#root = root;
    this.#most = most;
    this.#root.append(h("li", { class: "empty" }, "Nothing has happened yet."));
  }

  /** @param {(event: LbEvent) => boolean} wanted */
  filter(wanted) {
    this.#wanted = wanted;
    const shown = this.#events.filter(wanted).slice(-this.#most).reverse();
    this.#root.replaceChildren(...shown.map(eventItem));
    if (shown.length === 0) this.#root.append(h("li", { class: "empty" }, "No such event."));
  }

  /** @param {LbEvent} event */
  add(event) {
    this.#events.push(event);
    if (this.#events.length > 1000) this.#events.shift();
    if (!this.#wanted(event)) return;
    this.#root.querySelector(".empty")?.remove();
    this.#root.prepend(eventItem(event));
    if (this.#root.children.length > this.#most) this.#root.lastElementChild?.remove();
  }
}
