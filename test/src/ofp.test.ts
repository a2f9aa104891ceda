import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { encode } from "../../openflow/codec.ts";
import { writePcap } from "../../openflow/packet/pcap.ts";
import { tcpData } from "../support/tcp.ts";

const run = promisify(execFile);
const root = new URL("../../", import.meta.url).pathname;

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function lbctl(args: readonly string[], input = ""): Promise<Outcome> {
  const child = run(process.execPath, ["--import", "tsx", "src/lbctl.ts", ...args], { cwd: root });
  child.child.stdin?.end(input);
  return await child.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    (e: { code: number; stdout: string; stderr: string }) => ({ code: e.code, out: e.stdout, err: e.stderr }),
  );
}

const hasOfctl = await run("ovs-ofctl", ["--version"]).then(
  () => true,
  () => false,
);
const FLOW = "table=11,priority=100,reg1=0x5,reg3=0x1,actions=load:0x2->NXM_NX_REG2[],goto_table:12";

describe("lbctl ofp-print", () => {
  test("one message, and several in one string of bytes", async () => {
    const two = Buffer.concat([1, 2].map((xid) => encode({ type: "barrier_request", xid }))).toString("hex");
    const { code, out } = await lbctl(["ofp-print", two]);
    expect([code, out]).toEqual([
      0,
      "OFPT_BARRIER_REQUEST (OF1.3) (xid=0x1):\nOFPT_BARRIER_REQUEST (OF1.3) (xid=0x2):\n",
    ]);
  });

  test("lines of standard input as JSON; a bad line has its number and does not end the rest", async () => {
    const { code, out } = await lbctl(
      ["ofp-print", "--json", "-"],
      "0400000800000001\nzz\n041300080000000a\n040e00080000000b\n",
    );
    const rows = out
      .trim()
      .split("\n")
      .map((l) => JSON.parse(l) as { text: string; error?: string; message?: object });
    expect(code).toBe(1);
    expect(rows).toHaveLength(4);
    expect(rows[0]).toMatchObject({ message: { type: "hello" } });
    expect(rows[1]?.error).toContain('line 2: "z" is not a hex digit');
    expect(rows[3]?.error).toBe("OFPBRC_BAD_LEN");
  });

  test.skipIf(!hasOfctl)("prints what ovs-ofctl prints", async () => {
    const parsed = await lbctl(["ofp-parse", FLOW]);
    const hex = parsed.out.trim();
    const { stdout } = await run("ovs-ofctl", ["ofp-print", hex]);
    expect((await lbctl(["ofp-print", hex])).out).toBe(stdout);
    expect(stdout).toContain("table:11 priority=100,reg1=0x5,reg3=0x1 actions=load:0x2->NXM_NX_REG2[],goto_table:12");
  });

  test("the messages of a capture", async () => {
    const folder = mkdtempSync(join(tmpdir(), "oflb-ofp-"));
    const file = join(folder, "a.pcap");
    const path = { srcMac: 2, dstMac: 3, src: 0x0a000001, dst: 0x0a000002, srcPort: 5, dstPort: 6653 };
    const bytes = encode({ type: "echo_request", xid: 9, data: Buffer.from("hi") });
    writeFileSync(
      file,
      writePcap(
        [tcpData(path, 100, 1, bytes.subarray(0, 3)), tcpData(path, 103, 1, bytes.subarray(3))].map((frame, i) => ({
          tsMicros: i,
          bytes: frame,
        })),
      ),
    );
    const { code, out } = await lbctl(["ofp-print", "--pcap", file]);
    expect(code).toBe(0);
    expect(out).toContain(
      "# 1970-01-01T00:00:00.000Z 10.0.0.1:5 > 10.0.0.2:6653\nOFPT_ECHO_REQUEST (OF1.3) (xid=0x9): 2 bytes of payload\n",
    );
    writeFileSync(file, "not a capture, only words");
    expect(await lbctl(["ofp-print", "--pcap", file])).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not a capture"),
    });
    rmSync(folder, { recursive: true });
  });

  test.each([
    [["ofp-print"], "HEX, -, or --pcap FILE is wanted"],
    [["ofp-print", "abc"], "an odd number of hex digits"],
    [["ofp-print", "--pcap", "/no/such/file"], "cannot read /no/such/file: ENOENT"],
  ])("%j is refused in one sentence", async (args, message) => {
    const { code, err } = await lbctl(args);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
    expect(err).not.toMatch(/\n\s+at /);
  });
});

describe("lbctl ofp-parse", () => {
  test("a mistake is pointed at, with what is possible there", async () => {
    const { code, err } = await lbctl(["ofp-parse", "table=0,prioriti=5,actions=drop"]);
    expect(code).toBe(2);
    expect(err).toMatch(/a flow has no "prioriti"; possible here: .*priority/);
    const [, , caret] = err.split("\n");
    expect(caret).toBe(`  ${" ".repeat("table=0,".length)}^`);
  });

  test.skipIf(!hasOfctl).each([
    [["--group", "group_id=9,type=all,bucket=output:1,bucket=output:2"], "group_id=9,type=all"],
    [["--meter", "meter=3,pktps,band=type=drop,rate=50"], "meter=3 pktps bands="],
    [["--delete", "table=3,tcp,tp_dst=80"], "DEL table:3 tcp,tp_dst=80"],
  ])("%j gives a message that ovs-ofctl reads", async (args, text) => {
    const { out } = await lbctl(["ofp-parse", ...args]);
    expect((await run("ovs-ofctl", ["ofp-print", out.trim()])).stdout.replace(/\s+/g, " ")).toContain(text);
  });
});
