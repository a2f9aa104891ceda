import { describe, expect, test } from "vitest";
import { formatErrors } from "../../../src/config/errors.ts";
import { edit, errorsOf, expectError, load } from "./marked.ts";

describe("values", () => {
  const p2 = "segments[1]";
  const lb = "load_balancers[0]";
  test.each([
    [
      "10.20.0.1,",
      "‸10.20.0.300,",
      `${p2}.gateway.ip`,
      '"10.20.0.300" is not an IPv4 address (want dotted quad such as 10.20.0.1)',
    ],
    ["10.20.0.1,", "‸010.20.0.1,", `${p2}.gateway.ip`, "is not an IPv4 address"],
    ["10.20.0.1,", "‸[10.20.0.1],", `${p2}.gateway.ip`, "a list is not an IPv4 address"],
    ["subnet: 10.20.0.0/24", "subnet: ‸10.20.0.0/33", `${p2}.subnet`, "is not an IPv4 network"],
    ["subnet: 10.20.0.0/24", "subnet: ‸10.20.0.7/24", `${p2}.subnet`, "bits set behind the prefix (want 10.20.0.0/24)"],
    ["subnet: 10.20.0.0/24", "subnet: ‸", `${p2}.subnet`, "empty is not an IPv4 network"],
    ['"02:42:0a:14:00:01"', '‸"01:00:5e:00:00:01"', `${p2}.gateway.mac`, "is not a MAC address of one station"],
    ['"02:42:0a:14:00:01"', '‸"00:00:00:00:00:00"', `${p2}.gateway.mac`, "is not a MAC address of one station"],
    ['"02:42:0a:14:00:01"', '‸"02:42:0a:14:00"', `${p2}.gateway.mac`, "is not a MAC address of one station"],
    ["id: 2", "id: ‸0", `${p2}.id`, "want a whole number, 1 to 65535"],
    ["id: 2", "id: ‸two", `${p2}.id`, "want a whole number, 1 to 65535"],
    ["port: 80\n", "port: ‸65536\n", `${lb}.listeners[0].port`, "want a whole number, 1 to 65535"],
    ["kind: public", "kind: ‸pubic", "segments[0].kind", "want one of private, public"],
    ["slots: 1024", "slots: ‸1000", `${lb}.pools[0].slots`, "want a power of two, 64 to 4096"],
    ["- cli3", "- ‸interface-name-x", "segments[2].ports[3]", "at most 15 bytes"],
    ["- cli3", '- ‸"two words"', "segments[2].ports[3]", "is not a port name"],
    ["{ name: p3, role: uplink }", "{ name: p3, role: ‸up }", "segments[2].ports[0].role", "want one of host, uplink"],
    ["ports: [pub0]", "ports: ‸pub0", "segments[0].ports", '"pub0" is not a list'],
    ["- name: lb1", "- ‸lb1", "nodes[0]", '"lb1" is not a mapping'],
    ["- name: lb1", "- name: lb1\n    datapath_id: ‸12ab", "nodes[0].datapath_id", "want 16 hex digits"],
    ["probe: 10.20.0.253", "probe: 10.20.0.253\n    learn_clients: ‸yes", `${p2}.learn_clients`, "want true or false"],
    ["interval: 2", "interval: ‸0", `${lb}.pools[0].health_monitor.interval`, "want seconds, 0.1 to 3600"],
    ['codes: "200"', 'codes: ‸"204-200"', `${lb}.pools[0].health_monitor.codes`, "is not a list of HTTP status codes"],
    ["path: /", 'path: ‸"/a b"', `${lb}.pools[0].health_monitor.path`, "is not a path"],
    ["- name: web\n    vips", "- name: ‸a/b\n    vips", `${lb}.name`, "is not a name"],
  ])("%s as %s", (find, by, field, message) => expectError(edit(find, by), field, message));
});

describe("keys", () => {
  test.each([
    ["    probe: 10.30.0.253", "    ‸prob: 10.30.0.253", "segments[2].prob", 'unknown key, did you mean "probe"?'],
    ["    probe: 10.30.0.253", "    ‸subent: 1", "segments[2].subent", 'did you mean "subnet"?'],
    ["    probe: 10.30.0.253", "    ‸colour: red", "segments[2].colour", "unknown key (want one of name, id,"],
    ["    probe: 10.30.0.253", "    ‸__proto__: {}", "segments[2].__proto__", "unknown key"],
    ["    probe: 10.30.0.253", "    probe: 10.30.0.253\n    ‸probe: 10.30.0.252", "segments[2].probe", "there twice"],
    ["  - name: p3\n    id: 3\n", "  - ‸id: 3\n", "segments[2]", 'the key "name" is missing'],
    ["nodes:\n  - name: lb1", "‸other:\n  - name: lb1", "other", "unknown key"],
  ])("%j as %j", (find, by, field, message) => {
    const { marks, errors } = errorsOf(edit(find, by));
    const error = errors.find((e) => e.field === field);
    expect(`${error?.line}:${error?.column}`).toBe(marks[0]);
    expect(formatErrors(errors)).toContain(message);
  });
});

describe("relations", () => {
  const members = "load_balancers[0].pools[0].members";
  const routes = (...lines: readonly string[]) => `routes:\n${lines.map((l) => `  - ${l}\n`).join("")}load_balancers:`;
  const neighbours = (line: string) => `neighbours:\n  - ${line}\nload_balancers:`;
  const second = (text: string) => `load_balancers:\n  - name: other\n    vips:\n      - ${text}`;
  test.each([
    ["10.20.0.1,", "‸10.21.0.1,", "segments[1].gateway.ip", "10.21.0.1 is not in the subnet"],
    ["10.20.0.1,", "‸10.20.0.0,", "segments[1].gateway.ip", "is the network address"],
    ["10.20.0.1,", "‸10.20.0.255,", "segments[1].gateway.ip", "is the broadcast address"],
    ["probe: 10.20.0.253", "probe: ‸10.20.0.1", "segments[1].probe", "10.20.0.1 is taken, see segments[1].gateway.ip"],
    [
      "subnet: 192.168.5.0/24",
      "subnet: 192.168.5.0/24\n    learn_limit: ‸0",
      "segments[0].learn_limit",
      "want a whole number",
    ],
    [
      "- name: lb1",
      '- name: lb1\n    datapath_id: "0000000000000001"\n  - name: ‸lb1\n    datapath_id: "0000000000000002"',
      "nodes[1].name",
      '"lb1" is taken, see nodes[0].name',
    ],
    ["id: 3", "id: ‸2", "segments[2].id", "2 is taken, see segments[1].id"],
    ["- be4", "- ‸be1", "segments[2].ports[2]", '"be1" is taken, see segments[1].ports[1]'],
    ["- be3", "- ‸be1", "segments[1].ports[2]", '"be1" is taken'],
    ["- cli3", '- { name: cli3, mac: ‸"02:42:0a:1e:00:01" }', "segments[2].ports[3].mac", "is the gateway's"],
    [
      "segment: p2, ip: 10.20.0.100",
      "segment: p2, ip: ‸10.20.1.100",
      "load_balancers[0].vips[1].ip",
      "is not in the subnet",
    ],
    [
      "segment: p2, ip: 10.20.0.100",
      "segment: p2, ip: ‸10.20.0.255",
      "load_balancers[0].vips[1].ip",
      "is the broadcast address",
    ],
    [
      "segment: p2, ip: 10.20.0.100",
      "segment: p2, ip: ‸10.20.0.253",
      "load_balancers[0].vips[1].ip",
      "is taken, see segments[1].probe",
    ],
    [
      "segment: p2, ip: 10.20.0.100",
      "segment: ‸p22, ip: 10.20.0.100",
      "load_balancers[0].vips[1].segment",
      'did you mean "p2"?',
    ],
    ["pool: web", "pool: ‸wbe", "load_balancers[0].listeners[0].pool", 'there is no pool "wbe", did you mean "web"?'],
    [
      "pool: web",
      "pool: web\n        vips: [‸10.20.0.101]",
      "load_balancers[0].listeners[0].vips[0]",
      "is no address of the load balancer",
    ],
    ["pool: web", "pool: web\n        vips: ‸[]", "load_balancers[0].listeners[0].vips", "or no such key for all"],
    [
      "pool: web",
      "pool: web\n        allowed_sources: ‸[]",
      "load_balancers[0].listeners[0].allowed_sources",
      "the list is empty (want at least one, or no such key for all)",
    ],
    [
      "pool: web",
      "pool: web\n        allowed_sources: [10.0.0.0/8, ‸10.0.0.0/8]",
      "load_balancers[0].listeners[0].allowed_sources[1]",
      "10.0.0.0/8 is taken",
    ],
    [
      "pool: web",
      "pool: web\n        allowed_sources: [‸10.0.0.1/8]",
      "load_balancers[0].listeners[0].allowed_sources[0]",
      "want 10.0.0.0/8",
    ],
    [
      "be4, ip: 10.30.0.3",
      "be4, monitor_ip: ‸10.30.0.100, ip: 10.30.0.3",
      `${members}[3].monitor_ip`,
      "is our own address",
    ],
    [
      "be4, ip: 10.30.0.3",
      "be4, monitor_ip: ‸10.40.0.3, ip: 10.30.0.3",
      `${members}[3].monitor_ip`,
      "in no segment and behind no route",
    ],
    [
      "    pools:",
      "      - { name: again, port: ‸80 }\n    pools:",
      "load_balancers[0].listeners[1].port",
      "tcp 192.168.5.21:80 is taken",
    ],
    ["be4, ip: 10.30.0.3", "be4, ip: ‸10.40.0.3", `${members}[3].ip`, "in no segment and behind no route"],
    [
      "be4, ip: 10.30.0.3",
      "be4, ip: ‸10.30.0.100",
      `${members}[3].ip`,
      "is our own address, see load_balancers[0].vips[2].ip",
    ],
    ["be4, ip: 10.30.0.3", "be4, ip: ‸10.30.0.255", `${members}[3].ip`, "is the broadcast address"],
    ["be4, ip: 10.30.0.3", "be4, ip: ‸10.30.0.2", `${members}[3].ip`, "10.30.0.2:8080 is taken"],
    ["name: be4", "name: ‸be1", `${members}[3].name`, '"be1" is taken'],
    ["timeout: 1", "timeout: ‸3", "load_balancers[0].pools[0].health_monitor.timeout", "want at most 2"],
    [
      'type: http\n          path: /\n          codes: "200"\n',
      "type: tcp\n          path: ‸/\n",
      "load_balancers[0].pools[0].health_monitor.path",
      "does not go with type tcp",
    ],
    ["load_balancers:", routes("{ to: 0.0.0.0/0, via: ‸172.16.0.1 }"), "routes[0].via", "is in no segment"],
    ["load_balancers:", routes("{ to: 0.0.0.0/0, via: ‸192.168.5.20 }"), "routes[0].via", "is our own address"],
    ["load_balancers:", routes("{ to: ‸10.20.0.0/24, via: 192.168.5.1 }"), "routes[0].to", "see segments[1].subnet"],
    [
      "load_balancers:",
      neighbours('{ ip: ‸10.50.0.9, mac: "02:00:00:14:00:09" }'),
      "neighbours[0].ip",
      "is in no segment",
    ],
    [
      "load_balancers:",
      neighbours('{ ip: 10.20.0.9, mac: "02:00:00:14:00:09", port: ‸be2 }'),
      "neighbours[0].port",
      '"be2" is no port of segment p2',
    ],
    [
      "- name: lb1",
      '- { name: lb1, datapath_id: "0000000000000001" }\n  - ‸name: lb2',
      "nodes[1]",
      "with several nodes each needs one",
    ],
    [
      "load_balancers:",
      second("{ segment: p2, ip: 10.20.0.100 }"),
      "load_balancers[1].vips[1].ip",
      "is taken, see load_balancers[0].vips[0].ip",
    ],
    [
      "load_balancers:",
      "load_balancers:\n  - name: other\n    vips: ‸[]",
      "load_balancers[0].vips",
      "needs an address",
    ],
  ])("%j as %j", (find, by, field, message) => {
    const { marks, errors } = errorsOf(edit(find, by));
    expect(errors.map((e) => e.field)).toEqual([field]);
    if (marks.length > 0) expect(`${errors[0]!.line}:${errors[0]!.column}`).toBe(marks[0]);
    expect(formatErrors(errors)).toContain(message);
  });

  test("two segments of one name are refused", () => {
    const { marks, errors } = errorsOf(edit("- name: p3\n", "- name: ‸p2\n"));
    const error = errors.find((e) => e.field === "segments[2].name");
    expect([`${error?.line}:${error?.column}`, error?.message]).toEqual([
      marks[0],
      '"p2" is taken, see segments[1].name',
    ]);
  });

  test("overlapping subnets are refused whichever is the larger", () => {
    for (const subnet of ["10.20.0.0/25", "10.0.0.0/8"]) {
      const { errors } = errorsOf(edit("subnet: 10.30.0.0/24", `subnet: ${subnet}`));
      expect(errors.find((e) => e.field === "segments[2].subnet")?.message).toContain(
        "overlaps 10.20.0.0/24 of segment p2",
      );
    }
  });

  test("a member behind a route has no segment", () => {
    const text = edit("load_balancers:", routes("{ to: 10.40.0.0/16, via: 10.30.0.9 }"));
    const { topology } = load(edit("be4, ip: 10.30.0.3", "be4, ip: 10.40.0.3", text));
    expect(topology.loadBalancers[0]!.pools[0]!.members[3]).not.toHaveProperty("segment");
  });
});

describe("all errors at once", () => {
  test("are listed in the order of the file", () => {
    let text = edit("10.20.0.1,", "‸10.20.0.300,");
    text = edit("    probe: 10.30.0.253", "    ‸prob: 10.30.0.253", text);
    text = edit("port: 80\n", "port: ‸0\n", text);
    text = edit("name: be4, ip: 10.30.0.3", "name: ‸be1, ip: 10.30.0.3", text);
    const { marks, errors } = errorsOf(text);
    expect(errors.map((e) => `${e.line}:${e.column}`)).toEqual(marks);
  });

  test("missing things are not reported while they may be in the part that cannot be read", () => {
    expectError(
      edit("  - name: web\n        slots", "  - name: ‸a b\n        slots"),
      "load_balancers[0].pools[0].name",
      "is not a name",
    );
  });
});
