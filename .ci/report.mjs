// node report.mjs NAME REPORT STATUS...: reads vitest's JSON reports of runs, each with the run's name (the command) and
// the status that it ended with, says what makes them a failure, prints the counts of all, and exits with 0 or 1.

import { readFileSync } from "node:fs";

/** @typedef {{name: string, assertionResults: {status: string, fullName: string}[]}} TestFile */

/** @param {string} path @returns {TestFile[]} none when the run ended before its tests. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).testResults;
  } catch {
    return [];
  }
}

/** Tests that CI does not allow to be skipped: those that need more than Node. */
const musts = [
  { what: "a real Open vSwitch", files: /\/test\/ovs\// },
  { what: "the kernel's datapath", files: /\/test\/kernel\// },
  { what: "a real browser", files: /\/test\/web\// },
  { what: "the real openstack client", files: /\/test\/client\// },
];

const args = process.argv.slice(2);
const runs = [];
for (let i = 0; i + 2 < args.length; i += 3) {
  runs.push({ name: args[i], files: readReport(args[i + 1] ?? ""), status: args[i + 2] });
}
const tests = runs.flatMap(({ files }) =>
  files.flatMap(({ name, assertionResults }) => assertionResults.map((result) => ({ ...result, file: name }))),
);
/** @param {string} wanted */
const count = (wanted) => tests.filter((test) => test.status === wanted).length;
const passed = count("passed");
const failed = count("failed");

const problems = [
  ...runs.filter(({ status }) => status !== "0").map(({ name, status }) => `${name} ended with status ${status}`),
  ...runs
    .filter(({ files }) => files.length === 0)
    .map(({ name }) => `there is no test report of ${name}: something before the tests failed`),
  ...musts.flatMap(({ what, files }) => {
    const those = tests.filter(({ file }) => files.test(file));
    if (those.length === 0) return [`no test ran on ${what}`];
    return those
      .filter(({ status }) => status !== "passed" && status !== "failed")
      .map(({ fullName }) => `skipped, which CI does not allow: ${fullName}`);
  }),
];
for (const problem of problems) console.log(`FAILURE: ${problem}`);
console.log(`${passed} passed, ${failed} failed, ${tests.length - passed - failed} skipped`);
process.exitCode = problems.length === 0 && failed === 0 ? 0 : 1;
