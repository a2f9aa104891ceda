import { expect, test } from "vitest";
import { balanceProblems, balanceTable } from "../../../src/lab/balance.ts";
import type { RequestResult } from "../../../src/lab/requests.ts";

function answer(backend: string, change: Partial<RequestResult> = {}): RequestResult {
  return {
    ok: true,
    status: 200,
    body: "",
    seconds: 0.01,
    localPort: 40000,
    error: "",
    backend,
    client: "192.168.5.13",
    served: "10.20.0.2:8080",
    ...change,
  };
}

const all = ["be4", "be1", "be2", "be1", "be3"].map((name) => answer(name));

test("the table has a row per backend, in order, with its share of all requests", () => {
  const failed = answer("", { ok: false, status: 0, error: "timed out" });
  expect(balanceTable([answer("be2", { served: "10.30.0.2:8080" }), answer("be1"), answer("be1"), failed])).toBe(
    [
      "backend  served at       requests   share  client it saw",
      "be1      10.20.0.2:8080         2  50.0 %  192.168.5.13",
      "be2      10.30.0.2:8080         1  25.0 %  192.168.5.13",
    ].join("\n"),
  );
});

test("no problem when all four answer and see the client's address", () => {
  expect(balanceProblems(all, "192.168.5.13")).toEqual([]);
});

test.each([
  [
    "a failed request",
    [...all, answer("", { ok: false, status: 0, error: "timed out" })],
    "1 of 6 requests failed: timed out",
  ],
  ["an HTTP error", [...all, answer("be1", { ok: false, status: 503 })], "1 of 6 requests failed: HTTP status 503"],
  ["a silent backend", all.filter(({ backend }) => backend !== "be3"), "no answer from be3"],
  [
    "a lost client address",
    [...all, answer("be1", { client: "10.20.0.1" })],
    '1 answers saw the client as "10.20.0.1", not as 192.168.5.13',
  ],
  ["no request at all", [], "no answer from be1, be2, be3, be4"],
])("%s is a problem", (_name, results, problem) => {
  expect(balanceProblems(results, "192.168.5.13")).toEqual([problem]);
});
