import type { FeatureName } from "../cookies.ts";
import type { FlowSpec } from "../flow.ts";
import type { DesiredState } from "../model.ts";
import type { GroupSpec } from "../program.ts";

/**
 * A part of the pipeline: pure functions from the desired state to what the switch needs for it. Features know nothing of each
 * other; they meet in tables and registers.
 */
export interface Feature {
  readonly name: FeatureName;
  readonly flows: (s: DesiredState) => Iterable<FlowSpec>;
  readonly groups?: (s: DesiredState) => Iterable<GroupSpec>;
}
