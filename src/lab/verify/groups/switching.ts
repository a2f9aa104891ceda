import type { HostName } from "../../topology.ts";
import type { Group } from "../bench.ts";
import { dumpFlows } from "../dump.ts";
import { addressOf, hostSpec } from "../facts.ts";
import { experimentFrame, experimentType } from "../frames.ts";
import { distinct } from "../wire.ts";
import { ping } from "./icmp.ts";

const stranger = "02:00:00:00:77:77";
const nobody = "02:00:00:00:77:78";

/** Inside a segment the node is a learning switch. */
export const switching: Group = {
  name: "switching",
  about: "the node as the segment's learning switch",
  async run(bench) {
    const { lab, facts } = bench;
    const everybody = lab.hosts.map((host) => host.name);
    const cli2 = hostSpec("cli2");
    const reached = async (dst: string, src = cli2.mac): Promise<string> => {
      const { wire } = await bench.watch(
        everybody,
        async () => {
          await bench.inject("cli2", [experimentFrame(src, dst)]);
          await bench.pause(60);
        },
        `ether proto ${experimentType}`,
      );
      const hosts = everybody.filter((host) => wire(host).length > 0).sort();
      return hosts.map((host) => (wire(host).length > 1 ? `${host}*${wire(host).length}` : host)).join(" ") || "nobody";
    };
    const neighbours = facts.p2.hosts
      .map((host) => host.name)
      .filter((host) => host !== "cli2")
      .sort()
      .join(" ");
    bench.same(
      "a broadcast reaches its segment once, not its sender, nobody else",
      neighbours,
      await reached("ff:ff:ff:ff:ff:ff"),
    );
    bench.same("so does a multicast", neighbours, await reached("01:00:5e:01:02:03"));
    bench.same("so does a frame to a MAC nobody has shown", neighbours, await reached(nobody));
    bench.same("a MAC of the other segment is not known here", neighbours, await reached(hostSpec("cli3").mac));
    bench.same("a frame to a known MAC reaches its owner alone", "be1", await reached(hostSpec("be1").mac));
    bench.same(
      "a frame to the gateway that is not for it reaches nobody",
      "nobody",
      await reached(facts.p2.gateway.mac),
    );

    bench.undo(() => lab.ovs.ofctl("del-flows", lab.bridge, `table=25,dl_dst=${stranger}`));
    const entry = async (mac: string) =>
      (await dumpFlows(lab, `table=25,reg0=2,dl_dst=${mac}`))
        .map((f) => /output:(\d+)/.exec(f.actions)?.[1])
        .join(" ") || "none";
    bench.same("an unknown MAC has no entry in the FDB", "none", await entry(stranger));
    await reached(hostSpec("be1").mac, stranger);
    bench.same("its first frame makes one, with its port", `${cli2.ofport}`, await entry(stranger));
    for (const host of ["be1", "be3"] as const) {
      const spec = hostSpec(host);
      bench.same(`${host} is in the FDB behind its port`, `${await portNumber(host)}`, await entry(spec.mac));
    }
    async function portNumber(host: HostName): Promise<number> {
      return Number(await lab.ovs.vsctl("get", "interface", hostSpec(host).port, "ofport"));
    }
    const learned = await dumpFlows(lab, "table=25,reg0=2");
    const own = learned.filter((f) => f.priority === 50 && f.match.includes(facts.p2.gateway.mac));
    bench.same("the gateway's MAC is never learned", "0 entries", `${own.length} entries`);

    const be1 = hostSpec("be1");
    const url = `http://${addressOf(be1)}:${facts.memberPort}/`;
    const { wire, result } = await bench.watch(
      ["cli2", "be1", "be3", "up2"],
      async () => ({ answers: await lab.curl("cli2", url, 3), pings: await ping(bench, "be1", "10.20.0.3") }),
      "ip",
    );
    bench.same(
      "a neighbour's own service is reached as it is",
      "be1 sees 10.20.0.10",
      distinct(result.answers.map((a) => (a.ok ? `${a.backend} sees ${a.client}` : a.error))),
    );
    const answers = wire("cli2").filter((f) => f.ipProto === 6 && f.ipDst === "10.20.0.10");
    bench.same(
      "its answers are not translated",
      `${addressOf(be1)}:${facts.memberPort} ttl 64`,
      distinct(answers.map((f) => `${f.ipSrc}:${f.tcpSrc} ttl ${f.ipTtl}`)),
    );
    bench.same("members ping each other directly", "5 of 5, ttl 64", result.pings);
    const overheard = (["be3", "up2"] as const).filter((host) =>
      wire(host).some((f) => f.ipSrc === "10.20.0.10" || f.ipDst === "10.20.0.10"),
    );
    bench.same("neighbours do not overhear it", "nobody", overheard.join(" ") || "nobody");
  },
};
