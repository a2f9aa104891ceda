import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TraceView } from "../../controller/api/trace-views.ts";
import { readPortNumbers, readTrace } from "../../controller/switch-trace.ts";
import { unixctl, vswitchdSocket } from "../../controller/unixctl.ts";
import { disagreements } from "../../src/trace-agreement.ts";
import { type NodeUnderTest, startNode } from "../support/node-under-test.ts";
import { describeOvs } from "../support/ovs.ts";
import { packetKinds } from "../support/packet-kinds.ts";

let node: NodeUnderTest;
let socket: string;
let ofports: ReadonlyMap<number, number>;

const simulate = async (question: object): Promise<TraceView> => {
  const response = await fetch(new URL("/v1/trace", node.daemon.web), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(question),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body as TraceView;
};

const askSwitch = async (view: TraceView) => {
  const text = await unixctl(socket, "ofproto/trace", [node.lab.bridge, ...view.switchArguments]);
  return { text, passes: readTrace(text) };
};

describeOvs("the simulator and the switch", () => {
  beforeAll(async () => {
    node = await startNode("ttrace", { config: new URL("./trace-topology.yaml", import.meta.url).pathname });
    socket = await vswitchdSocket(node.lab.ovs.env["OVS_RUNDIR"]);
    ofports = readPortNumbers(await unixctl(socket, "dpif/show"), node.lab.bridge);
    await node.lab.curl("client", "http://192.168.5.21/", 8);
    await node.lab.curl("cli2", "http://10.20.0.100/", 8);
    await node.lab.curl("cli3", "http://10.30.0.100/", 8);
  });
  afterAll(async () => node?.end());

  describe.each(packetKinds)("$kind", ({ packets, outcome }) => {
    test.each(packets)("$name", async ({ packet, state = [] }) => {
      const view = await simulate({ packet, state });
      const { text, passes } = await askSwitch(view);
      expect(passes.flatMap((p) => p.steps).length, text).toBeGreaterThan(0);
      expect(disagreements(view, passes, ofports), `${text}\n${JSON.stringify(view, null, 1)}`).toEqual([]);
      expect(view.unknown).toEqual([]);
      outcome(view);
    });
  });
});
