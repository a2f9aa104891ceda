import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "../../patience.ts";
import type { Group } from "../bench.ts";
import { dumpFlows } from "../dump.ts";

/** Every host's port is attached to its segment, and nothing else is. */
export const ports: Group = {
  name: "ports",
  about: "ports of the bridge and the segments they belong to",
  async run(bench) {
    const { lab, facts } = bench;
    const [show, ingress, groupText] = await Promise.all([
      lab.ovs.ofctl("--no-names", "show", lab.bridge),
      dumpFlows(lab, "table=0"),
      lab.ovs.ofctl("--no-names", "dump-groups", lab.bridge),
    ]);
    const numbers = new Map([...show.matchAll(/^ (\d+)\((\S+)\): addr/gm)].map(([, no, name]) => [name!, Number(no)]));
    const segmentOf = (port: number | undefined): string => {
      const flow = ingress.find((f) => f.priority === 100 && f.match === `in_port=${port}`);
      return /load:(0x[0-9a-f]+)->NXM_NX_REG0\[\]/.exec(flow?.actions ?? "")?.[1] ?? "none";
    };
    for (const segment of facts.segments) {
      for (const host of segment.hosts) {
        const port = numbers.get(host.port);
        bench.same(
          `port ${host.port} belongs to segment ${segment.name}`,
          `reg0=0x${segment.id}`,
          `reg0=${segmentOf(port)}`,
        );
      }
    }
    for (const segment of facts.segments) {
      const wanted = segment.hosts.map((host) => numbers.get(host.port) ?? 0).sort((a, b) => a - b);
      const line = groupText.split("\n").find((text) => text.includes(`group_id=${653_000 + segment.id},`)) ?? "";
      const outputs = [...line.matchAll(/output:(\d+)/g)].map(([, port]) => Number(port)).sort((a, b) => a - b);
      bench.same(`the flood group of ${segment.name} has its ports`, wanted.join(" "), outputs.join(" "));
    }
    for (const uplink of facts.segments.flatMap((s) => s.hosts).filter((host) => host.name.startsWith("up"))) {
      const learning = ingress.filter(
        (f) => f.match.includes(`in_port=${numbers.get(uplink.port)},`) && f.actions.includes("table=21"),
      );
      bench.same(`nobody behind uplink ${uplink.port} is learned as a next hop`, "0 flows", `${learning.length} flows`);
    }
    const known = facts.segments.flatMap((s) => s.hosts).map((host) => numbers.get(host.port));
    const others = ingress
      .map((f) => /in_port=(\d+)/.exec(f.match)?.[1])
      .filter((p) => p && !known.includes(Number(p)));
    bench.same("no other port is let in", "0 flows", `${others.length} flows`);

    const vsctl = async (...args: string[]) => (await lab.ovs.vsctl(...args)).trim();
    bench.same("the bridge forwards by flows alone", "secure", await vsctl("get", "bridge", lab.bridge, "fail_mode"));
    // ovs-vswitchd writes the state of connections to its database every 5 s.
    const connected = () => vsctl("--columns=is_connected", "--bare", "--no-headings", "list", "controller");
    const deadline = Date.now() + patience(8_000);
    while ((await connected()) !== "true" && Date.now() < deadline) await sleep(200);
    bench.same("the controller is connected", "true", await connected());
    const stray = "stray0";
    bench.undo(() => lab.ovs.vsctl("--if-exists", "del-port", lab.bridge, stray));
    await lab.ovs.vsctl("add-port", lab.bridge, stray, "--", "set", "interface", stray, "type=internal");
    await lab.exec("ovs", ["ip", "link", "set", stray, "up"]);
    const dropped = async () => (await dumpFlows(lab, "table=0")).find((f) => f.priority === 0)?.packets ?? 0;
    const before = await dropped();
    const { wire } = await bench.watch(
      ["cli2", "cli3", "client"],
      async () => {
        const frame = Buffer.alloc(60, 0xff);
        frame.writeUIntBE(0x020000007777, 6, 6);
        frame.writeUInt16BE(0x88b5, 12);
        await lab.ovs.ofctlWith("OpenFlow10", [
          "--names",
          "packet-out",
          lab.bridge,
          stray,
          "resubmit(,0)",
          frame.toString("hex"),
        ]);
        await bench.pause(100);
      },
      "ether proto 0x88b5",
    );
    const reached = (["cli2", "cli3", "client"] as const).filter((host) => wire(host).length > 0);
    bench.same("a frame from a port of no segment reaches nobody", "nobody", reached.join(" ") || "nobody");
    bench.check(
      "and is counted",
      "1 drop in table 0",
      `${(await dropped()) - before} drops`,
      (await dropped()) > before,
    );
  },
};
