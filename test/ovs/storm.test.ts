import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HealthView } from "../../controller/api/views.ts";
import { waitSteady } from "../../src/lab/daemon.ts";
import { patience } from "../../src/lab/patience.ts";
import { eventually, type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { octaviaClient } from "../support/octavia-client.ts";
import { describeOvs } from "../support/ovs.ts";

/** Pause between two changes, ms: twenty a second. */
const PAUSE = 50;

describeOvs("a switch that is killed in a storm of changes", () => {
  let node: NodeUnderTest;
  const { request, find } = octaviaClient(() => node);

  beforeAll(async () => {
    node = await startNode("tstorm");
  });
  afterAll(async () => node?.end());

  /** Slots of each member, by the switch's own table 11. */
  const slotsInSwitch = async (): Promise<readonly number[]> => {
    const text = await node.lab.ovs.ofctl("dump-flows", node.lab.bridge, "table=11");
    const members = [...text.matchAll(/reg1=\S+ actions=(?:set_field:|load:)(0x[0-9a-f]+)/g)].map(([, id]) => id);
    const counts = new Map<string | undefined, number>();
    for (const id of members) counts.set(id, (counts.get(id) ?? 0) + 1);
    return [...counts.values()].sort((a, b) => a - b);
  };

  test("holds all of it when it is back; the API answers all the time", async () => {
    const { lab } = node;
    const members = `pools/${(await find("pools")).id}/members`;
    const { id } = await find(members, "be1");
    let sent = 0;
    let slowest = 0;
    let storming = true;
    const storm = (async () => {
      while (storming) {
        const began = performance.now();
        await request("PUT", `${members}/${id}`, { member: { weight: 1 + (++sent % 4) } });
        await node.api("/v1/status");
        slowest = Math.max(slowest, performance.now() - began);
        await sleep(PAUSE);
      }
    })();
    await sleep(1_500);
    await lab.ovs.killSwitch();
    await sleep(2_500);
    await lab.ovs.startSwitch();
    await sleep(2_500);
    storming = false;
    await storm;
    expect(sent).toBeGreaterThan(30);
    expect(slowest).toBeLessThan(patience(3_000));
    // Made while the switch has all, but nobody waits for it: 5 + 1 + 1 + 1 parts.
    await request("PUT", `${members}/${id}`, { member: { weight: 5 } });
    await waitSteady(node.daemon.web, 20_000);
    await eventually("the switch has the last weights", 20_000, async () =>
      (await slotsInSwitch()).join(" ") === "128 128 128 640" ? true : undefined,
    );
    const [pool] = await node.api<readonly HealthView[]>("/v1/health");
    expect(pool?.members.map((m) => [m.name, m.state, m.slots])).toEqual([
      ["be1", "up", 640],
      ["be2", "up", 128],
      ["be3", "up", 128],
      ["be4", "up", 128],
    ]);
    const answers = await lab.curl("client", "http://192.168.5.21/", 24);
    expect(answers.filter((a) => !a.ok)).toEqual([]);
  });

  test("is programmed once more when it is killed while it is programmed", async () => {
    const { lab } = node;
    for (let i = 0; i < 3; i++) {
      await lab.ovs.killSwitch();
      await lab.ovs.startSwitch();
      await sleep(200 * i);
    }
    await waitSteady(node.daemon.web, 20_000);
    await eventually("requests are answered", 10_000, async () =>
      (await lab.curl("client", "http://192.168.5.21/", 8)).every((a) => a.ok) ? true : undefined,
    );
    expect((await slotsInSwitch()).join(" ")).toBe("128 128 128 640");
  });
});
