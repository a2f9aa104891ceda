import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AlreadyRunningError } from "../../src/lab/cleanup.ts";
import { down, type Lab, up } from "../../src/lab/lab.ts";
import { LabError } from "../../src/lab/shell.ts";
import { describeOvs } from "../support/ovs.ts";

const sh = promisify(execFile);
const name = `t${process.pid}`;

/** An ordinary learning switch in private segment 2; nothing else passes. */
const segment2 = [
  "in_port=10,actions=NORMAL",
  "in_port=11,actions=NORMAL",
  "in_port=12,actions=NORMAL",
  "priority=0,actions=drop",
].join("\n");

/** What is left of a lab anywhere on the machine. */
async function remains(lab: string): Promise<readonly string[]> {
  const namespaces = existsSync("/run/netns") ? readdirSync("/run/netns").filter((ns) => ns.startsWith(`${lab}-`)) : [];
  const links = readdirSync("/sys/class/net").filter((link) => link === `of-${lab}`);
  const { stdout } = await sh("ps", ["-eo", "pid=,args="]);
  const processes = stdout.split("\n").filter((line) => line.includes(`openflow-lb-${lab}/`));
  const folder = existsSync(`/tmp/openflow-lb-${lab}`) ? [`/tmp/openflow-lb-${lab}`] : [];
  return [...namespaces, ...links, ...processes, ...folder];
}

describeOvs("lab", () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await up({ name });
  });
  afterAll(async () => {
    await down({ name });
  });

  test("gives every host its namespace, address, MAC and numbered port", async () => {
    const ports = await lab.ovs.ofctl("show", lab.bridge);
    for (const host of lab.hosts) {
      expect(ports).toContain(` ${host.ofport}(${host.port}): `);
      const addresses = await lab.exec(host.name, ["ip", "addr", "show", "eth0"]);
      expect(addresses).toContain(`inet ${host.address} `);
      expect(addresses).toContain(`link/ether ${host.mac} `);
      expect(addresses).not.toContain("inet6");
    }
    expect(ports).toContain("dpid:00000242c0a80514");
    expect(await lab.exec("be2", ["ip", "route"])).toMatch(
      /default via 10\.30\.0\.254.*10\.20\.0\.0\/24 via 10\.30\.0\.1/s,
    );
    expect(await lab.exec("cli2", ["ip", "route"])).not.toContain("via");
  });

  test("starts with a bridge that forwards nothing", async () => {
    expect(await lab.ovs.vsctl("get", "bridge", lab.bridge, "datapath_type", "fail_mode")).toBe("netdev\nsecure\n");
    expect(await lab.ovs.ofctl("dump-flows", lab.bridge)).not.toContain("actions=");
    expect((await lab.attempt("be1", ["ping", "-c1", "-W1", "10.20.0.3"])).code).toBe(1);
  });

  test("carries frames of neighbours, with valid checksums in the capture", async () => {
    await lab.ovs.ofctlWith("OpenFlow13", ["add-flows", lab.bridge, "-"], { input: segment2 });
    const capture = await lab.capture("be3", { filter: "icmp or tcp port 8080" });
    await lab.exec("cli2", ["ping", "-c2", "-i0.2", "-W1", "10.20.0.3"]);
    const results = await lab.curl("cli2", "http://10.20.0.3:8080/", 3);
    await capture.stop();

    expect(results.map(({ ok, backend, client, served }) => ({ ok, backend, client, served }))).toEqual(
      Array(3).fill({ ok: true, backend: "be3", client: "10.20.0.10", served: "10.20.0.3:8080" }),
    );
    expect(new Set(results.map(({ localPort }) => localPort)).size).toBe(3);
    const frames = pcapFrames(capture.path);
    expect(frames.filter((frame) => frame[23] === 1)).toHaveLength(4);
    expect(frames.filter((frame) => frame[23] === 6).length).toBeGreaterThanOrEqual(3 * 8);
    expect(frames.filter((frame) => !transportChecksumOk(frame))).toEqual([]);
  });

  test("backends obey: kill, pause, resume, behave, start", async () => {
    const be3 = lab.backend("be3");
    const ask = async (path = "") => (await lab.curl("be1", `http://10.20.0.3:8080/${path}`, 1, { maxTime: 1 }))[0];
    be3.behave({ status: 503, delayMs: 100 });
    const slow = await ask("health");
    expect(slow).toMatchObject({ status: 503, ok: false });
    expect(slow?.seconds).toBeGreaterThan(0.1);
    be3.behave({});
    expect(await ask("health")).toMatchObject({ status: 200, body: "ok" });
    be3.pause();
    expect(await ask()).toMatchObject({ status: 0, error: expect.stringContaining("timed out") });
    be3.resume();
    expect(await ask()).toMatchObject({ status: 200, backend: "be3" });
    await be3.kill();
    expect(await ask()).toMatchObject({ status: 0, error: expect.stringContaining("connect") });
    expect(() => be3.pause()).toThrow(LabError);
    await be3.start();
    expect(await ask()).toMatchObject({ status: 200, backend: "be3" });
  });

  test("a host can get another MAC", async () => {
    await lab.setMac("cli2", "02:00:00:14:00:99");
    expect(await lab.exec("cli2", ["ip", "link", "show", "eth0"])).toContain("02:00:00:14:00:99");
    await lab.exec("cli2", ["ping", "-c1", "-W1", "10.20.0.2"]);
    await lab.setMac("cli2", "02:00:00:14:00:0a");
  });

  test("the switch reaches a controller in this process, again after its own kill -9, then without flows", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket.on("error", () => {})));
    await new Promise<void>((resolve) => server.listen(0, lab.controllerAddress, resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const hello = async (): Promise<{ from: string | undefined; bytes: Buffer }> => {
      const socket = sockets.shift() ?? (await new Promise<Socket>((resolve) => server.once("connection", resolve)));
      const bytes = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
      return { from: socket.remoteAddress, bytes };
    };
    try {
      await lab.setController(`tcp:${lab.controllerAddress}:${port}`);
      const first = await hello();
      expect(first.from).toBe(lab.switchAddress);
      expect(first.bytes[1]).toBe(0);
      sockets.length = 0;
      await lab.ovs.ofctlWith("OpenFlow13", ["add-flows", lab.bridge, "-"], { input: segment2 });
      await lab.ovs.killSwitch();
      await lab.ovs.startSwitch();
      expect((await hello()).bytes[1]).toBe(0);
      expect(await lab.ovs.ofctl("dump-flows", lab.bridge)).not.toContain("actions=");
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });

  test("refuses a second lab of the same name, allows one of another", async () => {
    await expect(up({ name })).rejects.toThrow(AlreadyRunningError);
    await expect(up({ name: "no-dash" })).rejects.toThrow("bad lab name");
    const other = await up({ name: `${name}b` });
    expect(other.controllerAddress).not.toBe(lab.controllerAddress);
    expect((await other.attempt("be1", ["ping", "-c1", "-W1", "10.20.0.3"])).code).toBe(1);
    await down({ name: `${name}b` });
    expect(await remains(`${name}b`)).toEqual([]);
    expect(await lab.ovs.ofctl("show", lab.bridge)).toContain("1(pub0)");
  });

  test("down leaves nothing", async () => {
    const stray = lab.capture("be1");
    await stray;
    expect((await remains(name)).length).toBeGreaterThan(0);
    expect(await down({ name })).toBe(true);
    expect(await remains(name)).toEqual([]);
    expect(await down({ name })).toBe(false);
  });
});

describeOvs("lab after a crash", () => {
  const crashed = `${name}c`;
  afterAll(async () => {
    await down({ name: crashed });
  });

  /** Starts a lab in another process and kills that process `ms` milliseconds after the state file is there. */
  async function crash(ms: number | "when up"): Promise<void> {
    const module = fileURLToPath(new URL("../../src/lab/lab.ts", import.meta.url));
    const script = `const { up } = await import(${JSON.stringify(module)}); await up({ name: "${crashed}" }); console.log("up"); setInterval(() => {}, 1e6);`;
    const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
    });
    if (ms === "when up") await new Promise((resolve) => child.stdout.once("data", resolve));
    else {
      while (!existsSync(`/tmp/openflow-lb-${crashed}/lab.json`))
        await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
  }

  test("up works over the remains of a killed lab, whose daemons were killed too", async () => {
    await crash("when up");
    for (const daemon of ["ovs-vswitchd", "ovsdb-server"]) {
      process.kill(Number(readFileSync(`/tmp/openflow-lb-${crashed}/run/${daemon}.pid`, "utf8")), "SIGKILL");
    }
    const lab = await up({ name: crashed });
    await lab.ovs.ofctlWith("OpenFlow13", ["add-flows", lab.bridge, "-"], { input: segment2 });
    expect((await lab.curl("be1", "http://10.20.0.3:8080/"))[0]).toMatchObject({ ok: true, backend: "be3" });
    await down({ name: crashed });
    expect(await remains(crashed)).toEqual([]);
  });

  test.each([0, 60, 200, 400])("down removes a lab that was killed %i ms into its start", async (ms) => {
    await crash(ms);
    await down({ name: crashed });
    // A command that the killed process had started may end after it.
    await expect.poll(() => down({ name: crashed }).then(() => remains(crashed)), { timeout: 3000 }).toEqual([]);
  });

  test("a process that only has the number of a recorded one is left alone", async () => {
    const bystander = spawn("sleep", ["60"]);
    try {
      const lab = await up({ name: crashed });
      lab.adopt({ pid: bystander.pid ?? 0, startTime: "1" });
      await down({ name: crashed });
      expect(bystander.exitCode).toBeNull();
      expect(bystander.signalCode).toBeNull();
    } finally {
      bystander.kill();
    }
  });
});

/** Frames of a classic little-endian pcap file. */
function pcapFrames(path: string): readonly Buffer[] {
  const file = readFileSync(path);
  const frames: Buffer[] = [];
  for (let at = 24; at < file.length; ) {
    const length = file.readUInt32LE(at + 8);
    frames.push(file.subarray(at + 16, at + 16 + length));
    at += 16 + length;
  }
  return frames;
}

/** RFC 1071 sum over an IPv4 frame's TCP segment with its pseudo header, or over its ICMP message. */
function transportChecksumOk(frame: Buffer): boolean {
  const headerLength = ((frame[14] ?? 0) & 15) * 4;
  const body = frame.subarray(14 + headerLength, 14 + frame.readUInt16BE(16));
  const protocol = frame[23] ?? 0;
  const pseudo = Buffer.alloc(protocol === 6 ? 12 : 0);
  if (protocol === 6) {
    frame.copy(pseudo, 0, 26, 34);
    pseudo.writeUInt16BE(protocol, 8);
    pseudo.writeUInt16BE(body.length, 10);
  }
  const bytes = Buffer.concat([pseudo, body, Buffer.alloc(body.length % 2)]);
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return sum === 0xffff;
}
