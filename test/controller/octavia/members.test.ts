import { beforeEach, describe, expect, it } from "vitest";
import { subnets } from "../../support/octavia-app.ts";
import { type Api, fault, type Json, newApi, oneOfEach } from "./api.ts";

let api: Api;
let pool: Json;
let lb: Json;
beforeEach(async () => {
  api = await newApi();
  ({ pool, lb } = await oneOfEach(api));
});
const create = (fields: object) =>
  api.call("POST", `pools/${pool.id}/members`, { member: { address: "10.20.0.5", protocol_port: 80, ...fields } });
const put = (id: string, fields: object) => api.call("PUT", `pools/${pool.id}/members/${id}`, { member: fields });
const batch = (members: unknown, query = "") => api.call("PUT", `pools/${pool.id}/members${query}`, { members });
const list = async (): Promise<Json[]> => (await api.get(`pools/${pool.id}/members`)).members;

describe("creating a member", () => {
  it("answers with all its columns", async () => {
    expect(await api.member(pool.id, { name: "m1" })).toEqual({
      id: expect.any(String),
      name: "m1",
      provisioning_status: "ACTIVE",
      operating_status: "NO_MONITOR",
      admin_state_up: true,
      project_id: lb.project_id,
      tenant_id: lb.project_id,
      created_at: expect.any(String),
      updated_at: null,
      tags: [],
      address: "10.20.0.10",
      protocol_port: 8080,
      weight: 1,
      backup: false,
      subnet_id: null,
      monitor_address: null,
      monitor_port: null,
    });
  });

  it("keeps every value that looks like nothing", async () => {
    const given = { name: "", weight: 0, backup: false, admin_state_up: false, tags: [] };
    const member = await api.member(pool.id, given);
    expect(member).toMatchObject(given);
    expect((await api.get(`pools/${pool.id}/members/${member.id}`)).member).toMatchObject(given);
    const other = await api.member(pool.id, { address: "10.20.0.11", weight: 5, name: "x", tags: ["t"] });
    expect((await put(other.id, given)).body.member).toMatchObject(given);
    expect((await put(other.id, { weight: null, admin_state_up: true })).body.member).toMatchObject({ weight: 1 });
  });

  it("with weight 0 is draining", async () => {
    expect((await api.member(pool.id, { weight: 0 })).operating_status).toBe("DRAINING");
  });

  it.each([
    [
      "an octet above 255",
      { address: "192.0.2.300" },
      400,
      /address. Value: '192.0.2.300'. Value should be IPv4 or IPv6 format$/,
    ],
    ["leading zeros", { address: "010.20.0.5" }, 400, /Value should be IPv4 or IPv6 format/],
    ["a host name", { address: "host.example" }, 400, /Value should be IPv4 or IPv6 format/],
    ["a number", { address: 1 }, 400, /address. Value: '1'. Value should be IPv4/],
    ["a mapped address", { address: "::ffff:10.0.0.1" }, 400, /Value should be IPv4 or IPv6 format/],
    ["a zone", { address: "fe80::1%eth0" }, 400, /Value should be IPv4 or IPv6 format/],
    ["no host", { address: "0.0.0.0" }, 400, /address. Value: '0.0.0.0'. Value should be the address of a host/],
    ["loopback", { address: "127.0.0.1" }, 400, /address of a host/],
    ["multicast", { address: "224.0.0.1" }, 400, /address of a host/],
    ["limited broadcast", { address: "255.255.255.255" }, 400, /address of a host/],
    ["a network address", { address: "10.20.0.0" }, 400, /address of a host in 10.20.0.0\/24/],
    ["a broadcast address", { address: "10.20.0.255" }, 400, /address of a host in 10.20.0.0\/24/],
    ["the gateway", { address: "10.20.0.1" }, 400, /should not be the address of a gateway/],
    ["the probe address", { address: "10.20.0.253" }, 400, /should not be the address probes leave from/],
    [
      "the metadata address",
      { address: "169.254.169.254" },
      400,
      /^169.254.169.254 is not a valid option for member address$/,
    ],
    ["no address", { address: undefined }, 400, /address. Value: 'None'. Mandatory field missing/],
    ["no port", { protocol_port: undefined }, 400, /protocol_port. Value: 'None'. Mandatory field missing/],
    ["port 65536", { protocol_port: 65536 }, 400, /lower or equal to 65535/],
    ["weight 257", { weight: 257 }, 400, /weight. Value: '257'. Value should be lower or equal to 256/],
    ["weight -1", { weight: -1 }, 400, /weight. Value: '-1'. Value should be greater or equal to 0/],
    ["an empty subnet", { subnet_id: "" }, 400, /subnet_id. Value: ''. Value should be UUID format/],
    ["an unknown subnet", { subnet_id: "dddddddd-dead-4bad-8bad-dddddddddddd" }, 400, /^Subnet .* not found/],
    ["a subnet it is not in", { subnet_id: subnets.front }, 400, /address. Value: '10.20.0.5'.*address of subnet/],
    [
      "an IPv6 address behind an IPv4 VIP",
      { address: "2001:db8::33" },
      400,
      /2001:db8::33 is not a valid option for member address/,
    ],
    ["an IPv6 monitor", { monitor_address: "2001:db8::33" }, 501, /monitor_address/],
    ["a monitor that is a gateway", { monitor_address: "10.20.0.1" }, 400, /monitor_address. Value: '10.20.0.1'/],
    ["an unknown field", { bogus: 1 }, 400, /^Unknown attribute for argument member_\.member: bogus$/],
  ])("refuses %s", async (_what, fields, status, message) => {
    expect(await create(fields)).toMatchObject(fault(status, message));
    expect(await list()).toEqual([]);
  });

  it("finds duplicates across spellings", async () => {
    const unused = await api.make("pool", { loadbalancer_id: lb.id });
    expect((await api.member(unused.id, { address: "2001:DB8:0:0::33" })).address).toBe("2001:db8::33");
    const answer = await api.call("POST", `pools/${unused.id}/members`, {
      member: { address: "2001:db8::0033", protocol_port: "8080" },
    });
    expect(answer).toMatchObject(
      fault(409, /^Another member on this pool is already using ip 2001:db8::33 on protocol_port 8080$/),
    );
    await api.member(pool.id);
    expect(await create({ address: "10.20.0.10", protocol_port: 8080 })).toMatchObject(
      fault(409, /already using ip 10.20.0.10/),
    );
    expect(await create({ address: "10.20.0.10", protocol_port: 8081 })).toMatchObject({ status: 201 });
  });

  it("shows as faulty what cannot be reached, and takes what a route leads to", async () => {
    expect((await api.member(pool.id, { address: "172.16.5.5" })).operating_status).toBe("NO_MONITOR");
    expect((await api.member(pool.id, { address: "203.0.113.9" })).operating_status).toBe("ERROR");
  });

  it("of a pool that is not there", async () => {
    const path = "pools/dddddddd-dead-4bad-8bad-dddddddddddd/members";
    const missing = {
      status: 404,
      body: { code: 404, title: "Bad Request", description: "Pool dddddddd-dead-4bad-8bad-dddddddddddd not found." },
    };
    expect(await api.call("GET", path)).toMatchObject(missing);
    expect(await api.call("POST", path, { member: {} })).toMatchObject(missing);
    const member = await api.member(pool.id);
    const other = await api.make("pool", { loadbalancer_id: lb.id });
    expect(await api.call("GET", `pools/${other.id}/members/${member.id}`)).toMatchObject(
      fault(404, /^Member .* not found\.$/),
    );
  });
});

describe("changing a member", () => {
  it("refuses address and port", async () => {
    const member = await api.member(pool.id);
    for (const field of ["address", "protocol_port", "subnet_id"]) {
      expect(await put(member.id, { [field]: "10.20.0.6" })).toMatchObject(
        fault(400, `^Unknown attribute for argument member_.member: ${field}$`),
      );
    }
  });

  it("refuses monitors elsewhere when the prober cannot", async () => {
    const member = await api.member(pool.id);
    api.world.options = new Set();
    expect(await put(member.id, { monitor_port: 81 })).toMatchObject(fault(501, /monitor_port/));
    expect(await put(member.id, { monitor_address: "10.20.0.77" })).toMatchObject(fault(501, /monitor_address/));
    expect(await put(member.id, { monitor_port: null, monitor_address: null })).toMatchObject({ status: 200 });
  });
});

describe("all members at once", () => {
  const three = [
    { address: "10.20.0.11", protocol_port: 80, name: "a" },
    { address: "10.20.0.12", protocol_port: 80, name: "b", weight: 7 },
    { address: "10.20.0.13", protocol_port: 80, name: "c" },
  ];

  it("become those of the list; who stays keeps its id", async () => {
    expect(await batch(three)).toEqual(expect.objectContaining({ status: 202, body: undefined }));
    const before = await list();
    expect(before.map((m) => [m.name, m.weight])).toEqual([
      ["a", 1],
      ["b", 7],
      ["c", 1],
    ]);
    await batch([
      { address: "10.20.0.12", protocol_port: "80", weight: 0 },
      { address: "10.20.0.14", protocol_port: 80 },
    ]);
    const after = await list();
    expect(after.map((m) => [m.address, m.name, m.weight])).toEqual([
      ["10.20.0.12", "b", 0],
      ["10.20.0.14", "", 1],
    ]);
    expect(after[0].id).toBe(before[1].id);
  });

  it("stay as they are when the list says the same: nothing is written", async () => {
    await batch(three);
    const before = await list();
    const { version } = api.world.store.read();
    api.world.now = new Date("2027-01-01T00:00:00Z");
    expect(await batch([...three].reverse())).toMatchObject({ status: 202 });
    expect(await list()).toEqual(before);
    expect(api.world.store.read().version).toBe(version);
  });

  it("are all removed by an empty list, and none with additive_only", async () => {
    await batch(three);
    expect(await batch([], "?additive_only=true")).toMatchObject({ status: 202 });
    expect(await list()).toHaveLength(3);
    expect(await batch([{ address: "10.20.0.20", protocol_port: 1 }], "?additive_only=True")).toMatchObject({
      status: 202,
    });
    expect(await list()).toHaveLength(4);
    expect(await batch([])).toMatchObject({ status: 202 });
    expect(await list()).toEqual([]);
  });

  it.each([
    [
      "the same twice",
      [...three, { address: "10.20.0.11", protocol_port: "80" }],
      409,
      /already using ip 10.20.0.11 on protocol_port 80/,
    ],
    ["one wrong address", [...three, { address: "bad", protocol_port: 1 }], 400, /address. Value: 'bad'/],
    ["one without port", [...three, { address: "10.20.0.30" }], 400, /protocol_port. Value: 'None'. Mandatory/],
    ["one that is no object", [...three, "x"], 400, /member. Value: 'x'. Value should be an object/],
    ["no list", {}, 400, /members. Value: '\{\}'. Value not a valid list/],
    ["null", null, 400, /members. Value: 'None'. Value not a valid list/],
  ])("with %s are refused together", async (_what, members, status, message) => {
    await batch(three);
    const before = await list();
    expect(await batch(members)).toMatchObject(fault(status, message));
    expect(await list()).toEqual(before);
  });

  it("under a wrong root are refused", async () => {
    expect(await api.call("PUT", `pools/${pool.id}/members`, { member: [] })).toMatchObject(
      fault(400, /^Unknown attribute for argument members_: member$/),
    );
  });

  it("may be a thousand, of which one bad one spoils all", async () => {
    const thousand = Array.from({ length: 1000 }, (_, n) => ({
      address: `172.16.${n >> 8}.${n & 255}`,
      protocol_port: 80,
    }));
    expect(await batch([...thousand, { address: "10.20.0.999", protocol_port: 80 }])).toMatchObject({ status: 400 });
    expect(await list()).toEqual([]);
    expect(await batch(thousand)).toMatchObject({ status: 202 });
    expect(await list()).toHaveLength(1000);
  });
});
