import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { startDaemon } from "../../src/daemon.ts";
import { openAccess } from "../../src/http-access.ts";

const folder = mkdtempSync(join(tmpdir(), "oflb-access-"));
afterAll(() => rmSync(folder, { recursive: true }));

const tokens = join(folder, "tokens");
const TOKEN = "0123456789abcdef";
writeFileSync(tokens, `ops admin ${TOKEN}\n`, { mode: 0o600 });

const settings = (host: string, more = {}) => ({ http: { host, port: 0 }, data: folder, ...more });

describe("what protects the HTTP side", () => {
  test("beyond loopback it needs tokens, or a word that it does not", () => {
    expect(() => openAccess(settings("0.0.0.0"))).toThrow(/whoever reaches this address could change everything/);
    expect(() => openAccess(settings("::"))).toThrow(/--tokens FILE/);
    for (const more of [{ tokens }, { anonymous: true }]) {
      const access = openAccess(settings("0.0.0.0", more));
      expect(access.options.loopbackOnly).toBe(false);
      access.close();
    }
    const access = openAccess(settings("127.0.0.1"));
    expect(access.options).toMatchObject({ loopbackOnly: true });
    expect(access.options.tokens).toBeUndefined();
    access.close();
  });

  test("a token file with a fault ends the start, and a later one changes nothing", () => {
    const path = join(folder, "changing");
    writeFileSync(path, "ops admin\n", { mode: 0o600 });
    expect(() => openAccess(settings("127.0.0.1", { tokens: path }))).toThrow(/^--tokens: .*changing:1: want NAME/);
    writeFileSync(path, `ops admin ${TOKEN}\n`);
    const access = openAccess(settings("127.0.0.1", { tokens: path }));
    const app = { server: {} } as never;
    writeFileSync(path, "ops\n");
    expect(access.reload(app)).toMatch(/want NAME ROLE TOKEN/);
    expect(access.options.tokens?.()).toMatchObject([{ name: "ops" }]);
    writeFileSync(path, `ops admin ${TOKEN}\nweb read-only ${TOKEN}x\n`);
    expect(access.reload(app)).toBeUndefined();
    expect(access.options.tokens?.()).toMatchObject([{ name: "ops" }, { name: "web" }]);
    access.close();
  });

  test("files that are no certificate and key", () => {
    const tls = { cert: tokens, key: tokens };
    expect(() => openAccess(settings("127.0.0.1", { tls }))).toThrow(/are no certificate and its key$/);
    const gone = { cert: join(folder, "none"), key: tokens };
    expect(() => openAccess(settings("127.0.0.1", { tls: gone }))).toThrow(
      /^--tls-cert: .*none cannot be read: ENOENT$/,
    );
  });
});

/** OpenSSL makes the certificate that Node cannot make by itself. */
const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe("the daemon", () => {
  const start = async (name: string, more = {}) => {
    const data = join(folder, name);
    const config = join(folder, `${name}.yaml`);
    writeFileSync(config, readFileSync(new URL("../../fixtures/topology.yaml", import.meta.url)));
    // Below the ports that systems give out by themselves.
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const daemon = await startDaemon({
      config,
      data,
      listen: { host: "127.0.0.1", port: 0 },
      http: { host: "127.0.0.1", port },
      logLevel: "fatal",
      ...more,
    });
    return { daemon, data, config, port };
  };

  test("takes a topology by the API, tells so, and writes down who gave it", async () => {
    const { daemon, data, config, port } = await start("plain", { tokens });
    try {
      const base = `http://127.0.0.1:${port}`;
      const headers = { authorization: `Bearer ${TOKEN}` };
      expect((await fetch(`${base}/v1/topology`)).status).toBe(401);
      const old = await fetch(`${base}/v1/topology`, { headers });
      const text = (await old.text()).replace("10.20.0.3, port: 8080", "10.20.0.3, port: 8081");
      const etag = old.headers.get("etag") ?? "";
      const body = { method: "PUT", body: text, headers: { ...headers, "content-type": "application/yaml" } };
      const put = await fetch(`${base}/v1/topology`, { ...body, headers: { ...body.headers, "if-match": etag } });
      expect(put.status).toBe(200);
      expect(readFileSync(config, "utf8")).toBe(text);
      const health = (await (await fetch(`${base}/v1/health`, { headers })).json()) as [
        { members: { address: string }[] },
      ];
      expect(health[0].members.map((m) => m.address)).toContain("10.20.0.3:8081");
      const events = (await (
        await fetch(`${base}/v1/events?follow=false&kind=topology,change`, { headers })
      ).json()) as {
        text: string;
      }[];
      expect(events.map((e) => e.text)).toEqual(["topology replaced by ops", "ops: PUT /v1/topology done"]);
      const audit = readFileSync(join(data, "audit.log"), "utf8").trimEnd().split("\n");
      expect(audit.map((l) => JSON.parse(l) as object)).toMatchObject([
        { who: "ops", method: "PUT", path: "/v1/topology", before: { lines: [expect.stringContaining("8080")] } },
      ]);
      expect(audit.join("")).not.toContain(TOKEN);
    } finally {
      await daemon.stop();
    }
  });

  test("has OpenStack's tokens, objects and audit", async () => {
    const { daemon, data, port } = await start("octavia", { tokens });
    try {
      const base = `http://127.0.0.1:${port}`;
      const headers = { "x-auth-token": TOKEN, "content-type": "application/json" };
      expect((await fetch(`${base}/v2.0/lbaas/loadbalancers`)).status).toBe(401);
      expect((await fetch(base, { headers: { accept: "application/json" } })).status).toBe(200);
      const subnets = (await (await fetch(`${base}/v2.0/subnets`, { headers })).json()) as {
        subnets: { id: string }[];
      };
      const create = JSON.stringify({ loadbalancer: { name: "lb", vip_subnet_id: subnets.subnets[0]?.id } });
      const made = await fetch(`${base}/v2.0/lbaas/loadbalancers`, { method: "POST", headers, body: create });
      expect(made.status).toBe(201);
      const { loadbalancer } = (await made.json()) as { loadbalancer: { id: string } };
      const url = `${base}/v2.0/lbaas/loadbalancers/${loadbalancer.id}`;
      const rename = JSON.stringify({ loadbalancer: { name: "lb2" } });
      expect((await fetch(url, { method: "PUT", headers, body: rename })).status).toBe(200);
      expect((await fetch(url, { method: "DELETE", headers: { "x-auth-token": TOKEN } })).status).toBe(204);
      const audit = readFileSync(join(data, "audit.log"), "utf8").trimEnd().split("\n");
      expect(audit.map((l) => JSON.parse(l) as object)).toMatchObject([
        { method: "POST", status: 201, before: null, after: { loadbalancer: { name: "lb" } } },
        { method: "PUT", status: 200, before: { name: "lb" }, after: { name: "lb2" } },
        { method: "DELETE", status: 204, before: { name: "lb2" }, after: null },
      ]);
    } finally {
      await daemon.stop();
    }
  });

  test.skipIf(!hasOpenssl && process.env["CI"] !== "true")("speaks TLS with the certificate it is given", async () => {
    const cert = join(folder, "cert.pem");
    const key = join(folder, "key.pem");
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    const make = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
    execFileSync("openssl", [...make, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
    const { daemon, port } = await start("tls", { tls: { cert, key } });
    try {
      const { get } = await import("node:https");
      const status = await new Promise((resolve, reject) => {
        get(`https://127.0.0.1:${port}/healthz`, { ca: readFileSync(cert) }, (r) => {
          r.resume();
          resolve(r.statusCode);
        }).once("error", reject);
      });
      expect(status).toBe(200);
      await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
    } finally {
      await daemon.stop();
    }
  });
});
