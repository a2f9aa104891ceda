/** One statement about the running lab, with what was seen of it on a wire or in the switch. */
export interface CheckResult {
  readonly group: string;
  readonly name: string;
  readonly ok: boolean;
  readonly expected: string;
  readonly saw: string;
}

/** What the checks of a lab found. */
export interface VerifyReport {
  readonly results: readonly CheckResult[];
  readonly passed: number;
  readonly total: number;
  readonly seconds: number;
}

/** Line for people: ✓ or ✗, the statement, and what was seen; for a failure also what was expected. */
export function checkLine({ ok, name, expected, saw }: CheckResult): string {
  return ok ? `  ✓ ${name}: ${saw}` : `  ✗ ${name}: expected ${expected}, saw ${saw}`;
}

export function summaryLine({ passed, total, seconds }: VerifyReport): string {
  return `${passed} of ${total} checks passed in ${seconds.toFixed(1)} s`;
}
