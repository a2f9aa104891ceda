import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { killTrial } from "../../support/kill-trial.ts";

it("loses nothing acknowledged and never refuses to start after kill -9 at any moment", async () => {
  const folder = await mkdtemp(join(tmpdir(), "store-kill-"));
  try {
    const report = await killTrial(folder, 20, Math.random);
    expect(report.faults).toEqual([]);
    expect(report.acknowledged).toBeGreaterThan(report.kills);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 300_000);
