import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import type { OpenApiDocument } from "../../../controller/api/openapi.ts";
import { webApp } from "../../support/web-app.ts";

const document = async (): Promise<OpenApiDocument> => (await webApp().app.inject("/v1/openapi.json")).json();

describe("/v1/openapi.json", () => {
  test("is an OpenAPI 3.1 document", async () => {
    const validator = new Validator();
    expect(await validator.validate((await document()) as unknown as Parameters<Validator["validate"]>[0])).toEqual({
      valid: true,
    });
    expect(validator.version).toBe("3.1");
  });

  test("has every route under /v1", async () => {
    const { app } = webApp();
    const { paths } = await document();
    const routes = new Set<string>();
    // The printed tree of routes is the only list of them there is.
    let path: string[] = [];
    await app.ready();
    for (const line of app.printRoutes({ commonPrefix: false }).split("\n")) {
      const [, indent = "", part = "", methods = ""] = /^([│ ]*(?:[├└]── )?)(\S+)(?: \((.*)\))?/.exec(line) ?? [];
      path = [...path.slice(0, indent.length / 4 - 1), part];
      for (const m of methods.split(", ")) if (m !== "" && m !== "HEAD") routes.add(`${m} ${path.join("")}`);
    }
    const native = [...routes]
      .filter((r) => r.includes(" /v1/") && !/openapi|docs/.test(r))
      .map((r) => r.replace(/:(\w+)/g, "{$1}"));
    const described = Object.entries(paths).flatMap(([p, ops]) =>
      Object.keys(ops).map((m) => `${m.toUpperCase()} ${p}`),
    );
    expect(native.length).toBeGreaterThan(15);
    expect(described.sort()).toEqual(native.sort());
  });

  test("references lead somewhere, and operations have names of their own", async () => {
    const text = JSON.stringify(await document());
    const { components, paths } = JSON.parse(text) as OpenApiDocument;
    const targets = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map((m) => m[1] as string);
    expect(targets.filter((t) => !(t in components.schemas))).toEqual([]);
    expect(Object.keys(components.schemas).filter((s) => !targets.includes(s))).toEqual([]);
    const ids = Object.values(paths).flatMap((ops) => Object.values(ops).map((op) => op.operationId));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain("postV1MembersMemberDrain");
  });
});

describe("/v1/docs", () => {
  test("has all operations and schemas, escaped, and needs nothing but its style", async () => {
    const { app } = webApp();
    const response = await app.inject("/v1/docs");
    expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(response.headers["content-security-policy"]).toContain("default-src 'none'");
    const { paths, components } = await document();
    for (const path of Object.keys(paths)) expect(response.body).toContain(`<code>${path}</code>`);
    for (const name of Object.keys(components.schemas)) expect(response.body).toContain(`id="schema-${name}"`);
    expect(response.body).not.toMatch(/<script|style="|https?:/);
    const links = [...response.body.matchAll(/href="#([^"]+)"/g)].map((m) => m[1]);
    expect(links.filter((id) => !response.body.includes(`id="${id}"`))).toEqual([]);
  });
});
