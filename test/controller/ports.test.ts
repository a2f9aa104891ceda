import { describe, expect, test } from "vitest";
import { attach, type SwitchPort } from "../../controller/ports.ts";
import type { PortRef, Segment } from "../../pipeline/model.ts";

const segment = (id: number, ports: readonly PortRef[]): Segment => ({
  id,
  name: `s${id}`,
  uuid: `00000000-0000-0000-0000-00000000000${id}`,
  subnet: { address: 0x0a000000 + id * 0x100, length: 24 },
  gateway: { ip: 0x0a000001 + id * 0x100, mac: 0x020000000000 + id },
  kind: "private",
  ports,
  ageing: 300,
  learnLimit: 4096,
  clientsLearned: true,
});
const port = (portNo: number, name: string, config = 0, state = 4): SwitchPort => ({
  portNo,
  name,
  hwAddr: 0x0a0000000000 + portNo,
  config,
  state,
});

describe("attaching ports to segments", () => {
  test("by name, by glob, and not at all", () => {
    const { attached, unattached } = attach(
      [segment(1, [{ name: "tap*", role: "host" }]), segment(2, [{ name: "tap7", role: "uplink", mac: 5 }])],
      [port(3, "tap7"), port(2, "tap6"), port(9, "eth0"), port(0xfffffffe, "br-lb")],
    );
    expect(attached.map((p) => [p.name, p.ofport, p.segment, p.role, p.hostMac])).toEqual([
      ["tap6", 2, 1, "host", undefined],
      ["tap7", 3, 2, "uplink", 5],
    ]);
    expect(unattached.map((p) => p.name)).toEqual(["eth0"]);
  });

  test.each([
    ["link up", 0, 4, true],
    ["link down", 0, 1, false],
    ["administratively down", 1, 4, false],
    ["both", 1, 1, false],
  ])("%s", (_name, config, state, up) => {
    expect(attach([segment(1, [{ name: "p", role: "host" }])], [port(1, "p", config, state)]).attached[0]?.up).toBe(up);
  });

  test("characters of regular expressions mean themselves in a glob", () => {
    const { attached } = attach(
      [segment(1, [{ name: "a.b?+*", role: "host" }])],
      [port(1, "a.bx+1"), port(2, "axbx+1")],
    );
    expect(attached.map((p) => p.ofport)).toEqual([1]);
  });
});
