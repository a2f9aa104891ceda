/** The values of instructions (OF1.3.5 §7.2.4), discriminated by `kind`. */
import type { Action } from "./action-values.ts";
import type { Unknown } from "./schema/tlv.ts";

/** Goes on in a later table. */
export interface GotoTable {
  readonly kind: "goto_table";
  readonly tableId: number;
}

/** Writes the bits of the metadata that `mask` has set. */
export interface WriteMetadata {
  readonly kind: "write_metadata";
  readonly metadata: bigint;
  readonly mask: bigint;
}

/** Runs actions now, or puts them into the action set that runs at the end. */
export interface ActionsInstruction {
  readonly kind: "apply_actions" | "write_actions";
  readonly actions: readonly Action[];
}

/** Empties the action set. */
interface ClearActions {
  readonly kind: "clear_actions";
}

/** Polices the packet with a meter. */
export interface MeterInstruction {
  readonly kind: "meter";
  readonly meterId: number;
}

export type Instruction = GotoTable | WriteMetadata | ActionsInstruction | ClearActions | MeterInstruction | Unknown;
