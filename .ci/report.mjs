// node report.mjs REPORT STATUS: reads vitest's JSON report of a run that ended with STATUS, says what makes the run a
// failure, prints the counts, and exits with 0 or 1.

import { readFileSync } from "node:fs";

const [reportFile = "", status = "1"] = process.argv.slice(2);

/** @typedef {{name: string, assertionResults: {status: string, fullName: string}[]}} TestFile */

/** @returns {TestFile[]} none when the run ended before its tests. */
function readReport() {
  const text = readFileSync(reportFile, "utf8");
  return text === "" ? [] : JSON.parse(text).testResults;
}

const files = readReport();
const tests = files.flatMap(({ name, assertionResults }) =>
  assertionResults.map((result) => ({
    ...result,
    onOvs: name.includes("/test/ovs/"),
    inBrowser: name.includes("/test/web/"),
  })),
);
/** @param {string} wanted */
const count = (wanted) => tests.filter((test) => test.status === wanted).length;
const passed = count("passed");
const failed = count("failed");
const onOvs = tests.filter((test) => test.onOvs);
const inBrowser = tests.filter((test) => test.inBrowser);
const notRun = [...onOvs, ...inBrowser].filter((test) => test.status !== "passed" && test.status !== "failed");

const problems = [
  ...(status === "0" ? [] : [`npm test ended with status ${status}`]),
  ...(files.length === 0 ? ["there is no test report: something before the tests failed"] : []),
  ...(onOvs.length === 0 ? ["no test ran on a real Open vSwitch"] : []),
  ...(inBrowser.length === 0 ? ["no test ran in a real browser"] : []),
  ...notRun.map((test) => `skipped, which CI does not allow: ${test.fullName}`),
];
for (const problem of problems) console.log(`FAILURE: ${problem}`);
console.log(`${passed} passed, ${failed} failed, ${tests.length - passed - failed} skipped`);
process.exitCode = problems.length === 0 ? 0 : 1;
