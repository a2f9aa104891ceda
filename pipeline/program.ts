/** What a switch is to hold, in the shapes that openflow/ decodes statistics to, so that both sides compare directly. */
import type { Action } from "../openflow/action-values.ts";
import type { FlowSpec } from "./flow.ts";

/** A bucket of a group (OF1.3.5 §7.3.4.2). */
export interface BucketSpec {
  readonly weight: number;
  readonly watchPort: number;
  readonly watchGroup: number;
  readonly actions: readonly Action[];
}

/** A group. */
export interface GroupSpec {
  readonly groupId: number;
  /** OFPGT_* */
  readonly groupType: number;
  readonly buckets: readonly BucketSpec[];
}

/** A band that drops what is over the rate (OF1.3.5 §7.3.4.5.1). */
export interface DropBand {
  readonly kind: "drop";
  readonly rate: number;
  readonly burstSize: number;
}

/** A meter. */
export interface MeterSpec {
  readonly meterId: number;
  /** OFPMF_* bits. */
  readonly flags: number;
  readonly bands: readonly DropBand[];
}

/** A flow with what is compared of it as strings. */
export interface CompiledFlow extends FlowSpec {
  /** Table, priority, match: two flows with one key are one flow to a switch. */
  readonly key: string;
  /** The bytes of its instructions. */
  readonly body: string;
}

/** Everything a switch is to hold, each list in a fixed order. */
export interface Program {
  readonly meters: readonly MeterSpec[];
  readonly groups: readonly GroupSpec[];
  /** By table, then by falling priority, then by match. */
  readonly flows: readonly CompiledFlow[];
}
