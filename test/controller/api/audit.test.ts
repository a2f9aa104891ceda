import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type AuditEntry, auditFile } from "../../../controller/api/audit.ts";

const folder = mkdtempSync(join(tmpdir(), "oflb-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));

const entry = (path: string): AuditEntry => ({
  at: "2026-01-02T03:04:05.000Z",
  who: "ops",
  from: "127.0.0.1",
  method: "POST",
  path,
  status: 200,
  before: { a: "line\nend" },
  after: null,
});

test("a line of JSON per change, for its owner only, behind what is there", () => {
  const path = join(folder, "audit.log");
  const first = auditFile(path);
  first.write(entry("/a"));
  first.close();
  const second = auditFile(path);
  second.write(entry("/b"));
  second.close();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.map((l) => JSON.parse(l) as AuditEntry)).toEqual([entry("/a"), entry("/b")]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a large file makes room and is kept beside the new one", () => {
  const path = join(folder, "small.log");
  const size = Buffer.byteLength(`${JSON.stringify(entry("/0"))}\n`);
  const log = auditFile(path, size * 2);
  for (const n of [0, 1, 2, 3, 4]) log.write(entry(`/${n}`));
  log.close();
  expect(readFileSync(path, "utf8")).toContain('"/4"');
  expect(readFileSync(`${path}.1`, "utf8").match(/"\/\d"/g)).toEqual(['"/2"', '"/3"']);
});
