import type { Masked } from "./match.ts";

/** Bits of ct_state as OXM numbers them (ovs-fields(7), "ct_state"). */
export const CtState = {
  new: 0x01,
  established: 0x02,
  related: 0x04,
  reply: 0x08,
  invalid: 0x10,
  tracked: 0x20,
  destinationNat: 0x80,
} as const;

/** Matches packets that passed the connection table and got all of these. */
export const tracked = (...states: readonly (keyof typeof CtState)[]): { readonly ct_state: Masked } => {
  const bits = states.reduce((sum, name) => sum | CtState[name], CtState.tracked as number);
  return { ct_state: { value: bits, mask: bits } };
};

/** Matches packets that passed the connection table and are sound; without this no other ct_ field may be matched. */
export const valid: { readonly ct_state: Masked } = {
  ct_state: { value: CtState.tracked, mask: CtState.tracked | CtState.invalid },
};
