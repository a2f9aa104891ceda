import { spawnSync } from "node:child_process";
import { createServer } from "node:net";

const path = "/usr/bin/python3";

/** The Python of the distribution, whose packages the real service and the real client are. */
export const python = {
  path,
  /** Whether a module is there. In CI it has to be: a test that is skipped proves nothing. */
  has: (module: string): boolean => {
    const found = spawnSync(path, ["-c", `import ${module}`]).status === 0;
    if (!found && process.env["CI"] !== undefined) throw new Error(`${module} is missing: see test/octavia/README.md`);
    return found;
  },
};

/** A TCP port of 127.0.0.1 nobody uses at the moment. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
