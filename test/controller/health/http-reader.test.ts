import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  closedWhile,
  type HttpReader,
  httpRequest,
  isExpected,
  newHttpReader,
  readHttp,
} from "../../../controller/health/http-reader.ts";
import { parseStatusCodes, statusCodesText } from "../../../pipeline/status-codes.ts";

const feed = (...pieces: readonly (string | Buffer)[]): HttpReader =>
  pieces.reduce<HttpReader>(
    (reader, p) => readHttp(reader, typeof p === "string" ? Buffer.from(p, "latin1") : p),
    newHttpReader,
  );

/** Cuts a text at the given places. */
const cut = (bytes: Buffer, places: readonly number[]): readonly Buffer[] => {
  const at = [0, ...places.map((p) => p % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
};

const answers: readonly (readonly [string, HttpReader])[] = [
  ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", { kind: "status", code: 200 }],
  ["HTTP/1.0 200\r\n\r\n", { kind: "status", code: 200 }],
  ["HTTP/1.0 204 \n\n", { kind: "status", code: 204 }],
  ["HTTP/1.1 404 Nothing here, r\u00e9ally\r\n", { kind: "status", code: 404 }],
  ["HTTP/1.1 301 Moved\r\nLocation: http://192.0.2.1/\r\n\r\n", { kind: "status", code: 301 }],
  ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 206 Partial\r\n", { kind: "status", code: 206 }],
  [
    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX: HTTP/1.1 500\r\n\r\nHTTP/1.1 401 No\r\n",
    { kind: "status", code: 401 },
  ],
  ["HTTP/1.1 101 Switching Protocols\r\n\r\n", { kind: "status", code: 101 }],
  ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", { kind: "status", code: 200 }],
  ["SSH-2.0-OpenSSH_9.2\r\n", { kind: "garbage", reason: 'not HTTP: begins with "SSH-2.0"' }],
  ["HTTP/2 200\r\n", { kind: "garbage", reason: 'not HTTP: begins with "HTTP/2 "' }],
  ["\u0000\u0001\u0002garbage\n", { kind: "garbage", reason: 'not HTTP: begins with "???garb"' }],
  ["ok\n", { kind: "garbage", reason: 'not HTTP: "ok"' }],
  ["\r\n\r\n", { kind: "garbage", reason: 'not HTTP: ""' }],
  ["HTTP/1.1 2000 OK\r\n", { kind: "garbage", reason: 'not HTTP: "HTTP/1.1 2000 OK"' }],
  ["HTTP/1.1 600 OK\r\n", { kind: "garbage", reason: 'not HTTP: "HTTP/1.1 600 OK"' }],
  ["HTTP/1.1  200 OK\r\n", { kind: "garbage", reason: 'not HTTP: "HTTP/1.1  200 OK"' }],
];

describe("reading an answer", () => {
  test.each(answers)("%j", (text, want) => {
    expect(feed(text)).toEqual(want);
  });

  test("the pieces it comes in make no difference", () => {
    const text = fc.constantFrom(...answers.map(([t]) => t));
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 30 }), (t, places) => {
        const bytes = Buffer.from(t, "latin1");
        expect(feed(...cut(bytes, places))).toEqual(feed(bytes));
      }),
    );
  });

  test("any bytes in any pieces give the same verdict and never throw", () => {
    const line = fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom("HTTP/1.1 200 OK", "HTTP/1.1 100 C", "", "\r"));
    const text = fc.array(line, { maxLength: 8 }).map((lines) => Buffer.from(lines.join("\n"), "latin1"));
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 30 }), (bytes, places) => {
        expect(feed(...cut(bytes, places))).toEqual(feed(bytes));
      }),
    );
  });

  test("what comes after the verdict changes nothing, be it a gigabyte's beginning", () => {
    const done = feed("HTTP/1.1 503 Busy\r\n");
    expect(readHttp(done, Buffer.alloc(100_000, 0x0a))).toBe(done);
  });

  test("a line without end and interim answers without end are given up, at the same byte in any pieces", () => {
    const endless = [
      Buffer.from(`HTTP/1.1 200 ${"x".repeat(10_000)}`),
      Buffer.from("HTTP/1.1 100 Continue\r\n\r\n".repeat(4_000)),
      Buffer.from(`HTTP/1.1 100 C\r\n${`X: ${"y".repeat(1_000)}\r\n`.repeat(80)}`),
    ];
    for (const bytes of endless) {
      const reason = "not HTTP: no end of the status line or of interim answers";
      expect(feed(bytes)).toEqual({ kind: "garbage", reason });
      expect(feed(...cut(bytes, [1, 5, 4_000, 4_109, 4_110, 65_535, 65_536]))).toEqual({ kind: "garbage", reason });
    }
    expect(feed(`HTTP/1.1 200 ${"x".repeat(4_000)}\r\n`)).toEqual({ kind: "status", code: 200 });
  });

  test("a connection that ends early is told apart by whether anything came", () => {
    expect(closedWhile(newHttpReader)).toBe("closed without an answer");
    expect(closedWhile(feed("HTT"))).toBe("closed in the middle of the answer");
    expect(closedWhile(feed("HTTP/1.1 100 Continue\r\n\r\n"))).toBe("closed in the middle of the answer");
  });
});

describe("codes", () => {
  const codes = [
    { first: 200, last: 200 },
    { first: 204, last: 206 },
  ];
  test("are lists and ranges", () => {
    expect([199, 200, 201, 203, 204, 205, 206, 207].map((c) => isExpected(codes, c))).toEqual([
      false,
      true,
      false,
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(statusCodesText(codes)).toBe("200,204-206");
    expect(parseStatusCodes("200, 204-206")).toEqual(codes);
  });
});

describe("the request", () => {
  const lines = (version: "1.0" | "1.1", host?: string) =>
    httpRequest(
      { method: "HEAD", path: "/up?x=1", version, expectedCodes: [], ...(host === undefined ? {} : { host }) },
      "10.0.0.1:8080",
    )
      .toString("latin1")
      .split("\r\n");

  test("of 1.1 has exactly one Host: the one given, or the member's address and port", () => {
    expect(lines("1.1").filter((l) => l.startsWith("Host:"))).toEqual(["Host: 10.0.0.1:8080"]);
    expect(lines("1.1", "a.example:81").filter((l) => l.startsWith("Host:"))).toEqual(["Host: a.example:81"]);
    expect(lines("1.1")[0]).toBe("HEAD /up?x=1 HTTP/1.1");
    expect(lines("1.1").slice(-3)).toEqual(["Connection: close", "", ""]);
  });

  test("of 1.0 has none", () => {
    expect(lines("1.0")[0]).toBe("HEAD /up?x=1 HTTP/1.0");
    expect(lines("1.0").some((l) => l.startsWith("Host"))).toBe(false);
  });
});
