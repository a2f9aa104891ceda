import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { python } from "../support/python.ts";
import { type Served, serve } from "../support/serve.ts";

// biome-ignore lint/suspicious/noExplicitAny: the client prints JSON of a shape each test looks at itself
type Json = any;

/** Two segments: clients come from one, servers are in the other. */
const topology = `nodes: [{ name: lb1 }]
segments:
  - name: front
    kind: public
    subnet: 192.0.2.0/24
    gateway: { ip: 192.0.2.1, mac: "02:42:c0:00:02:01" }
    ports: [front0]
  - name: back
    subnet: 10.20.0.0/24
    gateway: { ip: 10.20.0.1, mac: "02:42:0a:14:00:01" }
    ports: [be1]
load_balancers: []
`;

describe.skipIf(!python.has("octaviaclient.osc.plugin"))("the real openstack client", () => {
  let client: ChildProcessWithoutNullStreams;
  let answers: AsyncIterator<string>;
  let daemon: Served;

  beforeAll(async () => {
    daemon = await serve(topology);
    const script = new URL("../support/openstack_client.py", import.meta.url).pathname;
    client = spawn(python.path, [script, `${daemon.url}/load-balancer`]);
    client.stderr.pipe(process.stderr);
    answers = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
  }, 60_000);
  afterAll(async () => {
    client?.kill();
    await daemon?.end();
  });

  const run = async (...words: string[]): Promise<{ status: number; out: string; err: string }> => {
    client.stdin.write(`${JSON.stringify(["loadbalancer", ...words])}\n`);
    return JSON.parse((await answers.next()).value);
  };
  /** Runs a command that prints nothing. */
  const done = async (...words: string[]): Promise<void> => {
    const { status, err } = await run(...words);
    expect(status, err).toBe(0);
  };
  /** Runs a command that prints an object or a list. */
  const shown = async (...words: string[]): Promise<Json> => {
    // The status tree is JSON without being asked.
    const { status, out, err } = await run(...words, ...(words[0] === "status" ? [] : ["-f", "json"]));
    expect(status, err).toBe(0);
    return JSON.parse(out);
  };
  /** Runs a command that must fail and gives its complaint. */
  const complaint = async (...words: string[]): Promise<string> => {
    const { status, err } = await run(...words);
    expect(status).not.toBe(0);
    return err;
  };
  /** A segment's UUID, as the client finds it. */
  const subnet = async (name: string): Promise<string> => {
    const answer = await fetch(`${daemon.url}/v2.0/subnets?name=${name}`);
    return ((await answer.json()) as Json).subnets[0].id;
  };
  const names = (list: Json): string[] => list.map((row: Json) => row.name).sort();

  it("makes, shows, lists and changes load balancers", async () => {
    expect(await shown("list")).toEqual([]);
    const made = await shown(
      "create",
      "--name",
      "lb",
      "--vip-subnet-id",
      "front",
      "--vip-address",
      "192.0.2.10",
      "--tag",
      "blue",
    );
    expect(made).toMatchObject({
      name: "lb",
      vip_address: "192.0.2.10",
      vip_subnet_id: await subnet("front"),
      provisioning_status: "ACTIVE",
      // No switch carries it out.
      operating_status: "OFFLINE",
      provider: "openflow",
    });
    expect(await shown("show", "lb")).toEqual(await shown("show", made.id));
    await done("set", "lb", "--description", "front door", "--disable", "--tag", "green");
    expect(await shown("show", "lb")).toMatchObject({
      description: "front door",
      admin_state_up: false,
      operating_status: "OFFLINE",
    });
    await done("set", "lb", "--enable");
    await done("unset", "lb", "--description", "--tag", "blue");
    expect(await shown("show", "lb")).toMatchObject({ description: "", admin_state_up: true, tags: "green" });
    expect(names(await shown("list", "--provisioning-status", "ACTIVE"))).toEqual(["lb"]);
    expect(names(await shown("list", "--disable"))).toEqual([]);
    const additional = ["--additional-vip", `subnet-id=${await subnet("back")},ip-address=10.20.0.100`];
    expect(await shown("create", "--name", "two", "--vip-network-id", "front", ...additional)).toMatchObject({
      name: "two",
    });
    await done("delete", "two");
    expect(await complaint("create", "--vip-subnet-id", "front", "--vip-address", "192.0.2.10")).toMatch(
      /in use.*HTTP 409/s,
    );
    expect(await complaint("create", "--vip-subnet-id", "nowhere")).toMatch(/nowhere/);
    expect(await complaint("show", "nobody")).toMatch(/Unable to locate nobody in loadbalancers/);
  });

  it("makes and changes listeners", async () => {
    const made = await shown("listener", "create", "lb", "--name", "web", "--protocol", "TCP", "--protocol-port", "80");
    expect(made).toMatchObject({
      protocol: "TCP",
      protocol_port: 80,
      connection_limit: -1,
      timeout_client_data: 50000,
    });
    const limited = ["--connection-limit", "9", "--allowed-cidr", "10.1.2.3/8", "--timeout-client-data", "1000"];
    expect(
      await shown(
        "listener",
        "create",
        "lb",
        "--name",
        "dns",
        "--protocol",
        "UDP",
        "--protocol-port",
        "53",
        ...limited,
      ),
    ).toMatchObject({ connection_limit: 9, allowed_cidrs: "10.0.0.0/8", timeout_client_data: 1000 });
    await done("listener", "unset", "dns", "--connection-limit", "--allowed-cidrs", "--timeout-client-data");
    expect(await shown("listener", "show", "dns")).toMatchObject({ connection_limit: -1, allowed_cidrs: null });
    await done("listener", "set", "web", "--name", "www", "--disable");
    expect(await shown("listener", "show", made.id)).toMatchObject({ name: "www", admin_state_up: false });
    await done("listener", "set", "www", "--name", "web", "--enable");
    expect(names(await shown("listener", "list", "--loadbalancer", "lb"))).toEqual(["dns", "web"]);
    expect(await shown("listener", "stats", "show", "web")).toMatchObject({ bytes_in: 0, active_connections: 0 });
    const http = ["--protocol", "HTTP", "--protocol-port", "81"];
    expect(await complaint("listener", "create", "lb", ...http)).toMatch(
      /does not support a requested option.*HTTP 501/s,
    );
  });

  it("makes and changes pools", async () => {
    const robin = ["--protocol", "TCP", "--lb-algorithm", "ROUND_ROBIN"];
    expect(await shown("pool", "create", "--name", "servers", "--listener", "web", ...robin)).toMatchObject({
      lb_algorithm: "ROUND_ROBIN",
      protocol: "TCP",
    });
    await done("pool", "set", "servers", "--lb-algorithm", "LEAST_CONNECTIONS");
    expect(await shown("pool", "show", "servers")).toMatchObject({ lb_algorithm: "LEAST_CONNECTIONS" });
    await done("pool", "set", "servers", "--lb-algorithm", "ROUND_ROBIN");
    const sticky = ["--protocol", "UDP", "--lb-algorithm", "SOURCE_IP", "--session-persistence", "type=SOURCE_IP"];
    await shown("pool", "create", "--name", "sticky", "--loadbalancer", "lb", ...sticky);
    await done("pool", "set", "sticky", "--lb-algorithm", "SOURCE_IP_PORT", "--description", "d");
    await done("pool", "unset", "sticky", "--session-persistence", "--description");
    expect(await shown("pool", "show", "sticky")).toMatchObject({
      lb_algorithm: "SOURCE_IP_PORT",
      session_persistence: null,
    });
    await done("listener", "set", "dns", "--default-pool", "sticky");
    await done("listener", "unset", "dns", "--default-pool");
    expect(await shown("listener", "show", "dns")).toMatchObject({ default_pool_id: null });
    expect(names(await shown("pool", "list", "--loadbalancer", "lb"))).toEqual(["servers", "sticky"]);
    expect(await complaint("pool", "create", "--listener", "web", ...robin)).toMatch(
      /already has a default pool.*HTTP 409/s,
    );
  });

  it("makes and changes members", async () => {
    const at = (address: string): string[] => ["--address", address, "--protocol-port", "8080"];
    await shown("member", "create", "servers", "--name", "m1", ...at("10.20.0.11"), "--subnet-id", "back");
    const elsewhere = ["--monitor-address", "10.20.0.77", "--monitor-port", "81", "--enable-backup", "--weight", "10"];
    expect(await shown("member", "create", "servers", "--name", "m2", ...at("10.20.0.12"), ...elsewhere)).toMatchObject(
      {
        weight: 10,
        backup: true,
        monitor_address: "10.20.0.77",
        monitor_port: 81,
      },
    );
    await done("member", "set", "servers", "m1", "--weight", "0");
    expect(await shown("member", "show", "servers", "m1")).toMatchObject({ weight: 0, operating_status: "DRAINING" });
    await done("member", "unset", "servers", "m1", "--weight");
    await done("member", "unset", "servers", "m2", "--monitor-address", "--monitor-port", "--backup");
    expect(await shown("member", "show", "servers", "m2")).toMatchObject({ monitor_port: null, backup: false });
    expect(names(await shown("member", "list", "servers"))).toEqual(["m1", "m2"]);
    expect(await complaint("member", "create", "servers", ...at("10.20.0.11"))).toMatch(
      /already using ip 10.20.0.11.*HTTP 409/s,
    );
    expect(await complaint("member", "create", "servers", ...at("10.20.0.300"))).toMatch(/HTTP 400/);
  });

  it("makes and changes health monitors", async () => {
    const rhythm = ["--delay", "5", "--timeout", "3", "--max-retries", "2"];
    const http = ["--type", "HTTP", "--url-path", "/up", "--expected-codes", "200-299", "--http-method", "HEAD"];
    expect(await shown("healthmonitor", "create", "servers", "--name", "hm", ...rhythm, ...http)).toMatchObject({
      type: "HTTP",
      url_path: "/up",
      expected_codes: "200-299",
    });
    await done("healthmonitor", "set", "hm", "--delay", "9", "--max-retries-down", "4");
    await done("healthmonitor", "unset", "hm", "--url-path", "--expected-codes", "--http-method", "--max-retries-down");
    expect(await shown("healthmonitor", "show", "hm")).toMatchObject({ delay: 9, url_path: "/", max_retries_down: 3 });
    await shown("healthmonitor", "create", "sticky", "--name", "hu", ...rhythm, "--type", "UDP-CONNECT");
    expect(names(await shown("healthmonitor", "list"))).toEqual(["hm", "hu"]);
    expect(await complaint("healthmonitor", "create", "servers", ...rhythm, "--type", "TCP")).toMatch(
      /already has a health monitor/,
    );
  });

  it("sees the tree, the counters, the catalogues and the quotas", async () => {
    const tree = (await shown("status", "show", "lb")).loadbalancer;
    expect(names(tree.listeners)).toEqual(["dns", "web"]);
    expect(tree.listeners.flatMap((l: Json) => l.pools)[0]).toMatchObject({ health_monitor: { type: "HTTP" } });
    expect(await shown("stats", "show", "lb")).toHaveProperty("total_connections");
    expect(names(await shown("provider", "list"))).toEqual(["openflow"]);
    expect(await shown("flavor", "list")).toEqual([]);
    expect(await shown("availabilityzone", "list")).toEqual([]);
    expect(await shown("l7policy", "list")).toEqual([]);
    expect(await shown("quota", "defaults", "show")).toHaveProperty("load_balancer");
    await shown("quota", "set", "demo", "--loadbalancer", "4");
    expect(await shown("quota", "show", "demo")).toMatchObject({ load_balancer: 4 });
    await done("quota", "reset", "demo");
    expect(await shown("quota", "list")).toEqual([]);
    expect(await complaint("failover", "lb")).toMatch(/HTTP 501/);
  });

  it("takes it all down", async () => {
    expect(await complaint("delete", "lb")).toMatch(/it has children.*HTTP 400/s);
    await done("healthmonitor", "delete", "hm");
    await done("member", "delete", "servers", "m1");
    await done("pool", "delete", "servers");
    await done("listener", "delete", "web");
    await done("delete", "lb", "--cascade", "--wait");
    for (const kind of [["listener"], ["pool"], ["healthmonitor"], []])
      expect(await shown(...kind, "list")).toEqual([]);
  });
});
