import type { Group } from "../bench.ts";
import { addressOf, hostSpec } from "../facts.ts";
import { arpRequest } from "../frames.ts";
import { distinct } from "../wire.ts";

const rounds = 50;

/** Who answers ARP, and with what. */
export const arp: Group = {
  name: "arp",
  about: "the node answers for its own addresses, and for no other",
  async run(bench) {
    const { lab, facts } = bench;
    const everybody = lab.hosts.map((host) => host.name);
    for (const segment of facts.segments) {
      const asker = hostSpec(segment.client);
      const { mac } = segment.gateway;
      const { wire } = await bench.watch(
        everybody,
        async () => {
          for (const address of segment.own) {
            const asked = (to?: string) => arpRequest(asker.mac, addressOf(asker), address, to);
            await bench.inject(asker.name, Array.from({ length: rounds }, () => [asked(), asked(mac)]).flat());
          }
          await bench.pause(100);
        },
        "arp",
      );
      for (const address of segment.own) {
        const answers = wire(asker.name).filter((f) => f.arpOp === 2 && f.arpSpa === address);
        const said = `${answers.length} answers, ${distinct(answers.map((f) => f.arpSha))}`;
        bench.same(`${2 * rounds} questions for ${address} in ${segment.name}`, `${2 * rounds} answers, ${mac}`, said);
      }
      const answers = wire(asker.name).filter((f) => f.arpOp === 2 && segment.own.includes(f.arpSpa ?? ""));
      const odd = answers.filter((f) => f.ethSrc !== f.arpSha || f.ethDst !== asker.mac || f.arpTha !== asker.mac);
      bench.same(
        `answers in ${segment.name} go from the sender's MAC to the asker's`,
        "0 others",
        `${odd.length} others`,
      );
      const heard = everybody.filter(
        (host) =>
          host !== asker.name && wire(host).some((f) => f.arpSha === asker.mac && segment.own.includes(f.arpTpa ?? "")),
      );
      bench.same(`questions for the node in ${segment.name} are not passed on`, "nobody", heard.join(" ") || "nobody");
    }

    const cli2 = hostSpec("cli2");
    const be1 = hostSpec("be1");
    const question = (tpa: string, to?: string) => arpRequest(cli2.mac, addressOf(cli2), tpa, to);
    const { wire } = await bench.watch(
      everybody,
      async () => {
        await bench.inject("cli2", [question(facts.p3.gateway.ip), question(facts.p3.vip), question(facts.pub.vip)]);
        await bench.inject("cli2", [question(addressOf(be1)), question("10.20.0.77")]);
        await bench.pause(200);
        await bench.inject("cli2", [question(addressOf(be1), be1.mac)]);
        await bench.pause(200);
      },
      "arp",
    );
    const answersTo = (address: string) => wire("cli2").filter((f) => f.arpOp === 2 && f.arpSpa === address);
    for (const [what, address] of [
      ["the gateway of p3", facts.p3.gateway.ip],
      ["the VIP of p3", facts.p3.vip],
      ["the public VIP", facts.pub.vip],
    ] as const) {
      bench.same(`nobody in p2 answers for ${what}`, "0 answers", `${answersTo(address).length} answers`);
    }
    bench.same(
      "nobody answers for an address that nobody has",
      "0 answers",
      `${answersTo("10.20.0.77").length} answers`,
    );
    const be1Answers = answersTo(addressOf(be1));
    bench.same(
      "two questions for neighbour be1 are answered by be1 alone",
      `2 answers, ${be1.mac}`,
      `${be1Answers.length} answers, ${distinct(be1Answers.map((f) => f.ethSrc))}`,
    );
    const asked = (host: (typeof everybody)[number]) =>
      wire(host).filter((f) => f.arpOp === 1 && f.arpSha === cli2.mac && f.arpTpa === addressOf(be1)).length;
    bench.same(
      "be1 hears both, the other neighbours the broadcast one",
      "be1 2, be3 1, up2 1",
      `be1 ${asked("be1")}, be3 ${asked("be3")}, up2 ${asked("up2")}`,
    );
    const others = everybody.filter((host) => !["be1", "be3", "up2"].includes(host) && asked(host) > 0);
    bench.same("nobody else hears the question", "nobody", others.join(" ") || "nobody");

    await whileDown(bench);
  },
};

/** A neighbour that is down is answered for by nobody; when its port comes up, the node announces its addresses. */
async function whileDown(bench: Parameters<Group["run"]>[0]): Promise<void> {
  const { lab, facts } = bench;
  const be2 = hostSpec("be2");
  const cli3 = hostSpec("cli3");
  // The switch's end of the cable, so that what the host hears can be captured from the first frame on.
  const link = (state: "up" | "down") => lab.exec("ovs", ["ip", "link", "set", cli3.port, state]);
  bench.undo(() => link("up"));
  await link("down");
  await bench.pause(200);
  const ask = (to?: string) => arpRequest(be2.mac, addressOf(be2), addressOf(cli3), to);
  const { wire } = await bench.watch(
    ["be2"],
    async () => {
      await bench.inject("be2", [ask(), ask(cli3.mac)]);
      await bench.pause(300);
    },
    "arp",
  );
  const answers = wire("be2").filter((f) => f.arpOp === 2 && f.arpSpa === addressOf(cli3));
  bench.same("nobody answers for a neighbour that is down", "0 answers", `${answers.length} answers`);
  const { wire: after } = await bench.watch(
    ["be2", "cli2", "cli3"],
    async () => {
      await link("up");
      await bench.pause(1000);
    },
    "arp",
  );
  const announced = (host: "be2" | "cli2" | "cli3") =>
    after(host).filter((f) => f.arpOp === 1 && f.arpSpa === f.arpTpa && f.arpSha === facts.p3.gateway.mac);
  for (const address of facts.p3.own) {
    const found = announced("be2").filter((f) => f.arpSpa === address).length;
    bench.check(
      `${address} is announced when a port of its segment comes up`,
      "1 or 2 announcements",
      `${found}`,
      found >= 1 && found <= 2,
    );
  }
  const heard = facts.p3.own.filter((address) => announced("cli3").some((f) => f.arpSpa === address));
  bench.same("the host behind that port hears all of it", facts.p3.own.join(" "), heard.join(" "));
  bench.same("but not in the other segment", "0 announcements", `${announced("cli2").length} announcements`);
}
