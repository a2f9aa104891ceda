import type { Message } from "../../openflow/messages/all.ts";
import { BundleControl, BundleFlag } from "../../openflow/messages/bundle.ts";
import { SessionClosed, SwitchError } from "../session/requests.ts";
import type { Outgoing, Session } from "../session/session.ts";

/** A message to be carried out in a bundle: flow mods, group mods and packet-outs (an OVS bundle takes no others). */
export interface BundleItem {
  readonly message: Outgoing;
  /** The object in the operator's words, for errors. */
  readonly what: string;
}

export interface Refusal {
  /** Position in the bundle; undefined when the switch did not say which message it means. */
  readonly index?: number;
  /** OVS error name. */
  readonly code: string;
  readonly what: string;
}

/**
 * What became of a bundle. "unknown" when the connection failed around the commit: the switch may or may not have
 * applied it, and only a new look at its tables tells.
 */
export type BundleResult =
  | { readonly kind: "committed" }
  | { readonly kind: "refused"; readonly refusals: readonly Refusal[] }
  | { readonly kind: "unknown"; readonly reason: string };

const FLAGS = BundleFlag.atomic | BundleFlag.ordered;

let lastBundle = 0;

/**
 * Applies `items` in order, all or none.
 *
 * Open vSwitch forgets a message that it could not take at ADD time and would commit the others; so after the adds comes
 * a barrier, and any error until then discards the bundle. What fails only at COMMIT is reported as two errors, of which
 * the first carries the xid of the message to blame.
 */
export async function sendBundle(session: Session, items: readonly BundleItem[]): Promise<BundleResult> {
  const bundleId = ++lastBundle;
  const control = (controlType: number): Outgoing =>
    ({ type: "bundle_control", bundleId, controlType, flags: FLAGS, properties: [] }) as Outgoing;
  const positions = new Map<number, number>();
  const refusals: Refusal[] = [];
  const stopWatching = session.watchErrors((error) => {
    const index = positions.get(error.xid);
    if (index === undefined) return false;
    refusals.push({ index, code: error.code, what: (items[index] as BundleItem).what });
    return true;
  });
  try {
    await session.request(control(BundleControl.openRequest), "open bundle");
    for (const [index, item] of items.entries()) {
      const xid = session.sendNumbered(
        (xid) =>
          ({
            type: "bundle_add_message",
            xid,
            bundleId,
            flags: FLAGS,
            message: { ...item.message, xid } as Message,
            properties: [],
          }) as Message,
      );
      positions.set(xid, index);
      if (index % 256 === 255) await session.drained();
    }
    await session.barrier();
    if (refusals.length > 0) {
      await session.request(control(BundleControl.discardRequest), "discard bundle");
      return { kind: "refused", refusals };
    }
    await session.request(control(BundleControl.commitRequest), "commit bundle");
    return { kind: "committed" };
  } catch (e) {
    if (e instanceof SwitchError) {
      const general = { code: e.code, what: e.what };
      return { kind: "refused", refusals: refusals.length > 0 ? refusals : [general] };
    }
    if (e instanceof SessionClosed) return { kind: "unknown", reason: e.message };
    throw e;
  } finally {
    stopWatching();
  }
}
