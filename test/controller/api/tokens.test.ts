import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { digestOf, parseTokens, principalOf, readTokens } from "../../../controller/api/tokens.ts";

const folder = mkdtempSync(join(tmpdir(), "oflb-tokens-"));
afterAll(() => rmSync(folder, { recursive: true }));

const A = "0123456789abcdef";
const B = "fedcba9876543210";

describe("token file", () => {
  test("names, roles, tokens and digests", () => {
    const digest = digestOf(B).toString("hex");
    const found = parseTokens(`# people\nops admin ${A}\r\n\n  grafana read-only sha256:${digest}  \n`, "f");
    expect(found.map(({ name, role }) => `${name} ${role}`)).toEqual(["ops admin", "grafana read-only"]);
    expect(principalOf(found, A)?.name).toBe("ops");
    expect(principalOf(found, B)?.name).toBe("grafana");
    expect(principalOf(found, digest)).toBeUndefined();
    expect(principalOf(found, "")).toBeUndefined();
    expect(JSON.stringify(found)).not.toContain(A);
  });

  test.each([
    ["ops admin", /^f:1: want NAME ROLE TOKEN/],
    [`ops root ${A}`, /^f:1: the role must be read-only or admin$/],
    ["\nops admin short", /^f:2: the token must have 16/],
    ["ops admin sha256:12", /^f:1: sha256: wants 64 hex digits/],
    [`ops admin ${A}\nops admin ${B}`, /^f:2: there is another token for ops$/],
    [`ops admin ${A}\nweb admin ${A}`, /^f:2: this token is there twice$/],
    [`o/ps admin ${A}`, /^f:1: the name must be/],
    ["# nobody\n", /^f: there is no token in it$/],
  ])("refuses %j", (text, message) => {
    expect(() => parseTokens(text, "f")).toThrow(message);
  });

  test("no message has a token in it", () => {
    const secret = "s3cr3t-s3cr3t-s3cr3t";
    for (const text of [`ops root ${secret}`, `ops admin ${secret} x`, `ops admin ${secret}\nx admin ${secret}`]) {
      expect(() => parseTokens(text, "f")).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining(secret) }),
      );
    }
  });

  test("others must not have access to it", () => {
    const path = join(folder, "tokens");
    writeFileSync(path, `ops admin ${A}\n`, { mode: 0o600 });
    expect(readTokens(path)).toHaveLength(1);
    for (const mode of [0o640, 0o604, 0o620, 0o601]) {
      chmodSync(path, mode);
      expect(() => readTokens(path)).toThrow(/is open to others \(mode 6\d\d\): chmod 600/);
    }
    expect(() => readTokens(join(folder, "nothing"))).toThrow(/cannot be read: ENOENT/);
    expect(() => readTokens(folder)).toThrow(/open to others|cannot be read/);
  });
});
