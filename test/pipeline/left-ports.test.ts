import { expect, test } from "vitest";
import { compile } from "../../pipeline/compile.ts";
import { leftPorts } from "../../pipeline/left-ports.ts";
import type { DesiredState } from "../../pipeline/model.ts";
import { mac, seedState } from "../support/topology.ts";

const seed = seedState(64);
const { flows } = compile(seed);
const withPort = (name: string, over: Partial<DesiredState["ports"][number]>) =>
  compile({ ...seed, ports: seed.ports.map((p) => (p.name === name ? { ...p, ...over } : p)) }).flows;
const ofport = (name: string) => seed.ports.find((p) => p.name === name)!.ofport;

test("ports that go down, away, or to another segment have left", () => {
  expect(leftPorts(flows, withPort("be1", { up: false }))).toEqual([ofport("be1")]);
  expect(leftPorts(flows, withPort("be1", { segment: 3 }))).toEqual([ofport("be1")]);
  expect(leftPorts(flows, withPort("be1", { ofport: 99 }))).toEqual([ofport("be1")]);
  expect(leftPorts(flows, []).toSorted()).toEqual(seed.ports.map((p) => p.ofport).toSorted());
});

test("ports that stay, whatever else changes, and ports that come have not", () => {
  expect(leftPorts(flows, flows)).toEqual([]);
  expect(leftPorts([], flows)).toEqual([]);
  expect(leftPorts(withPort("be1", { up: false }), flows)).toEqual([]);
  expect(leftPorts(flows, withPort("be1", { hostMac: mac("02:00:00:00:00:01"), role: "uplink" }))).toEqual([]);
});

test("flows of others are nobody's ports", () => {
  const foreign = flows.map((f) => ({ ...f, cookie: 0x5eedn }));
  expect(leftPorts(foreign, [])).toEqual([]);
});
