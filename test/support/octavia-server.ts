/**
 * The API on a port of 127.0.0.1, with a store in memory (or in the folder of --data), to be tried with any client:
 * `node --import tsx test/support/octavia-server.ts [--port 9876] [--data FOLDER] [--front UUID] [--back UUID] [--project ID]`
 */
import { parseArgs } from "node:util";
import { openFileStore } from "../../controller/store/file-store.ts";
import { newWorld, octaviaApp, topology } from "./octavia-app.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "9876" },
    data: { type: "string" },
    front: { type: "string" },
    back: { type: "string" },
    project: { type: "string" },
  },
});
const { front, back, project, data } = values;
const world = newWorld({
  topology: topology({ ...(front === undefined ? {} : { front }), ...(back === undefined ? {} : { back }) } as object),
  ...(data === undefined ? {} : { store: await openFileStore(data) }),
});
const app = await octaviaApp(world, {
  now: () => new Date(),
  ...(project === undefined ? {} : { projectOf: () => project }),
});
await app.listen({ host: "127.0.0.1", port: Number(values.port) });
console.log(`listening on ${values.port}`);
process.once("SIGTERM", () => {
  void app
    .close()
    .then(() => world.store.close())
    .then(() => process.exit(0));
});
