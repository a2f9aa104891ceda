import { spawnSync } from "node:child_process";

/** Whether ovs-ofctl is there to compare with. It needs neither root nor a switch for what these tests ask. */
export const hasOfctl = spawnSync("ovs-ofctl", ["--version"]).status === 0;

/** What one run of ovs-ofctl prints for `input`; hundreds of questions go in at once. */
export function ofctl(args: readonly string[], input: string | Buffer): string {
  const run = spawnSync("ovs-ofctl", args, { input, maxBuffer: 1 << 28 });
  if (run.error) throw run.error;
  return run.stdout.toString();
}

export interface OxmAnswer {
  /** The TLVs as ovs-ofctl writes them back, or `OFPBMC_…`. */
  readonly text: string;
  /** The `ofp_match` it encodes; empty when it refuses. */
  readonly bytes: string;
}

/** `ovs-ofctl parse-oxm OpenFlow13` for each text. */
export function parseOxmAnswers(texts: readonly string[]): OxmAnswer[] {
  const out = ofctl(["-m", "--strict", "parse-oxm", "OpenFlow13"], `${texts.join("\n")}\n`);
  const answers: { text: string; bytes: string }[] = [];
  for (const line of out.split("\n")) {
    const dump = /^[0-9a-f]{8} {2}((?:[0-9a-f]{2}[ -]?)+)/.exec(line);
    const last = answers.at(-1);
    if (dump && last) last.bytes += (dump[1] as string).replace(/[ -]/g, "");
    else if (line.trim() !== "") {
      answers.push({ text: line.replace(/^nx_pull_match\(\) returned error /, ""), bytes: "" });
    }
  }
  return answers;
}
