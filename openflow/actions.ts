/**
 * The list of actions: every action of OpenFlow 1.3.5 (§7.2.5) and of Open vSwitch (ovs-actions(7)), both ways and in
 * text. What a decoder finds wrong with the bytes of an action is refused with the error that Open vSwitch gives;
 * actions that are not known at all are kept, and only {@link checkActions} minds them.
 */

import type { Action } from "./action-values.ts";
import { nxVariants } from "./actions-nx.ts";
import { standardVariants } from "./actions-standard.ts";
import { balanceVariants } from "./balance.ts";
import { bitVariants } from "./bit-actions.ts";
import { controllerVariants } from "./controller-action.ts";
import { ctVariants } from "./ct.ts";
import { encapVariants } from "./encap.ts";
import { learnVariants } from "./learn.ts";
import { type TlvList, tlvList } from "./schema/tlv.ts";
import { setVariants } from "./set-field.ts";

export type { Action } from "./action-values.ts";

export const actions: TlvList<Action> = tlvList(
  [
    ...standardVariants,
    ...setVariants,
    ...bitVariants,
    ...nxVariants,
    ...controllerVariants,
    ...balanceVariants,
    ...learnVariants,
    ...ctVariants(() => actions),
    ...encapVariants,
  ],
  {
    align: 8,
    lengthCoversPadding: true,
    badLength: "OFPBAC_BAD_LEN",
    badTotal: "OFPBRC_BAD_LEN",
    unknown: { type: "OFPBAC_BAD_TYPE", experimenter: "OFPBAC_BAD_VENDOR", subtype: "OFPBAC_BAD_VENDOR_TYPE" },
    experimenters: true,
  },
) as TlvList<Action>;
