import { describe, expect, test } from "vitest";
import { EventBus, type EventDraft, type LbEvent } from "../../controller/events.ts";

const draft = (n: number): EventDraft => ({ kind: "port", level: "info", text: `event ${n}`, data: { n } });

describe("event bus", () => {
  test("numbers events and hands each to all subscribers until they end", () => {
    const bus = new EventBus(10, "r");
    const seen: LbEvent[] = [];
    const end = bus.subscribe((e) => void seen.push(e));
    bus.subscribe((e) => void seen.push(e));
    bus.publish(draft(1));
    end();
    bus.publish(draft(2));
    expect(seen.map((e) => e.id)).toEqual(["r-1", "r-1", "r-2"]);
    expect(bus.subscribers).toBe(1);
  });

  test("gives what was missed since an id", () => {
    const bus = new EventBus(10, "r");
    for (const n of [1, 2, 3]) bus.publish(draft(n));
    expect(bus.since("r-1")).toMatchObject({ complete: true, events: [{ id: "r-2" }, { id: "r-3" }] });
    expect(bus.since("r-3")).toEqual({ complete: true, events: [] });
    expect(bus.since("r-0").events).toHaveLength(3);
    expect(bus.since(undefined)).toMatchObject({ complete: true, events: [{}, {}, {}] });
  });

  test("keeps a bounded number, and says when some are lost", () => {
    const bus = new EventBus(3, "r");
    for (let n = 1; n <= 10; n++) bus.publish(draft(n));
    expect(bus.since("r-7")).toMatchObject({ complete: true, events: [{ id: "r-8" }, { id: "r-9" }, { id: "r-10" }] });
    expect(bus.since("r-6")).toMatchObject({ complete: false });
    expect(bus.since(undefined)).toMatchObject({ complete: false });
    expect(bus.since("r-6").events).toHaveLength(3);
  });

  test.each(["other-2", "r-11", "r--1", "r-x", "r-1.5", "", "r-"])("an id that is not of this run: %j", (id) => {
    const bus = new EventBus(3, "r");
    bus.publish(draft(1));
    // "" and "r-" read as the number 0 in JavaScript; only the latter is of this run, and before all events.
    expect(bus.since(id).events).toHaveLength(1);
    expect(bus.since(id).complete).toBe(id === "r-");
  });
});
