import type { RequestResult } from "./requests.ts";

/** Backends that a lab's service is to use, all of them. */
export const expectedBackends = ["be1", "be2", "be3", "be4"] as const;

/** A table of who answered, ready to print. */
export function balanceTable(results: readonly RequestResult[]): string {
  const answered = results.filter((result) => result.ok);
  const names = [...new Set(answered.map((result) => result.backend))].sort();
  const rows = names.map((name) => {
    const own = answered.filter((result) => result.backend === name);
    const distinct = (pick: (result: RequestResult) => string) => [...new Set(own.map(pick))].sort().join(" ");
    const share = `${((100 * own.length) / results.length).toFixed(1)} %`;
    return [name, distinct((r) => r.served), `${own.length}`, share, distinct((r) => r.client)];
  });
  return alignColumns([["backend", "served at", "requests", "share", "client it saw"], ...rows], new Set([2, 3]));
}

/** What is wrong with the answers to requests that came from `client`; empty when all is well. */
export function balanceProblems(results: readonly RequestResult[], client: string): readonly string[] {
  const failed = results.filter((result) => !result.ok);
  const first = failed[0];
  const served = new Set(results.filter((result) => result.ok).map((result) => result.backend));
  const missing = expectedBackends.filter((name) => !served.has(name));
  const strange = results.filter((result) => result.ok && result.client !== client);
  return [
    ...(first === undefined
      ? []
      : [`${failed.length} of ${results.length} requests failed: ${first.error || `HTTP status ${first.status}`}`]),
    ...(missing.length === 0 ? [] : [`no answer from ${missing.join(", ")}`]),
    ...(strange.length === 0
      ? []
      : [`${strange.length} answers saw the client as "${strange[0]?.client}", not as ${client}`]),
  ];
}

function alignColumns(rows: readonly (readonly string[])[], right: ReadonlySet<number>): string {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (right.has(column) ? cell.padStart(width(column)) : cell.padEnd(width(column))))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
