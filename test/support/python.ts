import { spawnSync } from "node:child_process";

const path = "/usr/bin/python3";

/** The Python of the distribution, whose packages the real service and the real client are. */
export const python = {
  path,
  /** Whether a module is there. In CI it has to be: a test that is skipped proves nothing. */
  has: (module: string): boolean => {
    const found = spawnSync(path, ["-c", `import ${module}`]).status === 0;
    if (!found && process.env["CI"] !== undefined) {
      throw new Error(
        `${module} is missing: install python3-octavia, python3-openstackclient and python3-octaviaclient`,
      );
    }
    return found;
  },
};
