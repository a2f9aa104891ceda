import { beforeEach, describe, expect, it } from "vitest";
import { type Api, fault, type Json, newApi, oneOfEach } from "./api.ts";

let api: Api;
let pool: Json;
let udp: Json;
beforeEach(async () => {
  api = await newApi();
  const made = await oneOfEach(api);
  pool = made.pool;
  udp = await api.make("pool", { loadbalancer_id: made.lb.id, protocol: "UDP" });
});
const create = (fields: object) =>
  api.call("POST", "healthmonitors", {
    healthmonitor: { pool_id: pool.id, type: "TCP", delay: 5, timeout: 3, max_retries: 3, ...fields },
  });

describe("creating a health monitor", () => {
  it("answers with all its columns, HTTP ones filled in for HTTP only", async () => {
    const tcp = await api.make("healthmonitor", { pool_id: pool.id, name: "h" });
    expect(tcp).toMatchObject({
      name: "h",
      type: "TCP",
      delay: 5,
      timeout: 3,
      max_retries: 2,
      max_retries_down: 3,
      http_method: null,
      url_path: null,
      expected_codes: null,
      http_version: null,
      domain_name: null,
      pools: [{ id: pool.id }],
      provisioning_status: "ACTIVE",
      operating_status: "ONLINE",
    });
    const http = await api.make("healthmonitor", { pool_id: udp.id, type: "HTTP" });
    expect(http).toMatchObject({ http_method: "GET", url_path: "/", expected_codes: "200", http_version: null });
  });

  it("takes all HTTP fields", async () => {
    const fields = {
      type: "HTTP",
      http_method: "HEAD",
      url_path: "/healthz?full=1",
      expected_codes: "200, 204",
      http_version: 1.1,
      domain_name: "www.example.com",
    };
    expect(await api.make("healthmonitor", { pool_id: pool.id, ...fields })).toMatchObject(fields);
  });

  it("one to a pool", async () => {
    await api.make("healthmonitor", { pool_id: pool.id });
    expect(await create({})).toMatchObject(fault(409, /^This pool already has a health monitor$/));
  });

  it.each(["UDP-CONNECT", "TCP", "HTTP"])("%s fits a UDP pool", async (type) => {
    expect(await create({ pool_id: udp.id, type })).toMatchObject({ status: 201 });
  });

  it.each([
    ["no pool", { pool_id: undefined }, 400, /pool_id. Value: 'None'. Mandatory field missing/],
    ["a null pool", { pool_id: null }, 404, /^Pool None not found\.$/],
    ["an unknown pool", { pool_id: "dddddddd-dead-4bad-8bad-dddddddddddd" }, 404, /^Pool dddd.* not found\.$/],
    ["no timeout", { timeout: undefined }, 400, /timeout. Value: 'None'. Mandatory field missing/],
    ["no type", { type: undefined }, 400, /type. Value: 'None'. Mandatory field missing/],
    ["an unknown type", { type: "BOGUS" }, 400, /type. Value: 'BOGUS'. Value should be one of/],
    ["delay 0", { delay: 0 }, 400, /delay. Value: '0'. Value should be greater or equal to 1/],
    ["timeout 0", { timeout: 0 }, 400, /timeout. Value: '0'. Value should be greater or equal to 1/],
    ["a delay in text", { delay: "x" }, 400, /delay. Value: 'x'. invalid literal for int/],
    ["11 retries", { max_retries: 11 }, 400, /max_retries. Value: '11'. Value should be lower or equal to 10/],
    ["0 retries", { max_retries: 0 }, 400, /max_retries. Value: '0'. Value should be greater or equal to 1/],
    ["0 retries down", { max_retries_down: 0 }, 400, /max_retries_down. Value: '0'/],
    ["HTTPS", { type: "HTTPS" }, 501, /health monitors of type HTTPS/],
    ["TLS-HELLO", { type: "TLS-HELLO" }, 501, /health monitors of type TLS-HELLO/],
    [
      "UDP-CONNECT on TCP",
      { type: "UDP-CONNECT" },
      400,
      /The UDP-CONNECT type is only supported for pools of type UDP\/SCTP\.$/,
    ],
    ["a path on TCP", { url_path: "/x" }, 400, /^url_path is not a valid option for health monitors of type TCP$/],
    ["a bad path", { type: "HTTP", url_path: "x" }, 400, /url_path. Value: 'x'. Value must be a valid URL Path string/],
    ["a path that ends the line", { type: "HTTP", url_path: "/ HTTP/1.1\r\nX: y" }, 400, /url_path/],
    ["a name that ends the line", { type: "HTTP", http_version: 1.1, domain_name: "a\r\nX: y" }, 400, /domain_name/],
    [
      "a name without version 1.1",
      { type: "HTTP", domain_name: "example.com" },
      400,
      /'http_version'\(1\.1\) is required/,
    ],
    [
      "bad codes",
      { type: "HTTP", expected_codes: "abc" },
      400,
      /expected_codes. Value: 'abc'. Value should match the pattern/,
    ],
    [
      "an unknown method",
      { type: "HTTP", http_method: "FETCH" },
      400,
      /http_method. Value: 'FETCH'. Value should be one of/,
    ],
    ["a method probes do not use", { type: "HTTP", http_method: "POST" }, 501, /health monitors with method POST/],
    ["HTTP 2", { type: "HTTP", http_version: 2 }, 400, /http_version. Value: '2'. Value should be one of: 1.0, 1.1/],
    ["an unknown field", { bogus: 1 }, 400, /^Unknown attribute for argument health_monitor_\.healthmonitor: bogus$/],
  ])("refuses %s", async (_what, fields, status, message) => {
    expect(await create(fields)).toMatchObject(fault(status, message));
    expect(api.world.store.read().size("healthMonitors")).toBe(0);
  });

  it.each([
    ...["20", "200-", "-200", "200 201", "200,", "2000", "200-204,206", ""].map((c) => [c, "should match the pattern"]),
    ...["204-200", "099", "600", "200,999", "200-600"].map((c) => [c, "should be codes from 100 to 599"]),
  ])('refuses the codes "%s"', async (codes, why) => {
    expect(await create({ type: "HTTP", expected_codes: codes })).toMatchObject(
      fault(400, new RegExp(`expected_codes. Value: '${codes}'. Value ${why}`)),
    );
    expect(api.world.store.read().size("healthMonitors")).toBe(0);
  });

  it("refuses PING and SCTP on UDP pools as Octavia does", async () => {
    expect(await create({ pool_id: udp.id, type: "PING" })).toMatchObject(
      fault(
        400,
        /The associated pool protocol is UDP, so only a UDP-CONNECT\/SCTP\/TCP\/HTTP health monitor is supported/,
      ),
    );
    expect(await create({ pool_id: udp.id, type: "SCTP" })).toMatchObject(fault(501, /type SCTP/));
  });
});

describe("changing and deleting a health monitor", () => {
  it("changes, unsets, and refuses type and pool", async () => {
    const monitor = await api.make("healthmonitor", {
      pool_id: pool.id,
      type: "HTTP",
      url_path: "/x",
      max_retries_down: 5,
    });
    const put = (fields: object) => api.call("PUT", `healthmonitors/${monitor.id}`, { healthmonitor: fields });
    expect((await put({ delay: 10, url_path: null, max_retries_down: null })).body.healthmonitor).toMatchObject({
      delay: 10,
      url_path: "/",
      max_retries_down: 3,
    });
    expect(await put({ delay: null })).toMatchObject(fault(400, /delay.*Mandatory/));
    for (const field of ["type", "pool_id"]) {
      expect(await put({ [field]: "TCP" })).toMatchObject(fault(400, `healthmonitor: ${field}$`));
    }
    expect(await put({ domain_name: "example.com" })).toMatchObject(fault(400, /http_version/));
    expect(await put({ http_method: "PUT" })).toMatchObject(fault(501, /method PUT/));
  });

  it("refuses HTTP fields on other types, but not their unset", async () => {
    const monitor = await api.make("healthmonitor", { pool_id: pool.id });
    const put = (fields: object) => api.call("PUT", `healthmonitors/${monitor.id}`, { healthmonitor: fields });
    expect(await put({ url_path: "/x" })).toMatchObject(
      fault(400, /^url_path is not a valid option for health monitors of type TCP$/),
    );
    expect(await put({ url_path: null })).toMatchObject({ status: 200, body: { healthmonitor: { url_path: null } } });
  });

  it("is gone after its deletion", async () => {
    const monitor = await api.make("healthmonitor", { pool_id: pool.id });
    expect(await api.call("DELETE", `healthmonitors/${monitor.id}`)).toMatchObject({ status: 204 });
    expect(await api.call("DELETE", `healthmonitors/${monitor.id}`)).toMatchObject(
      fault(404, /^Health Monitor .* not found\.$/),
    );
    expect((await api.get(`pools/${pool.id}`)).pool).not.toHaveProperty("healthmonitor_id");
  });
});
