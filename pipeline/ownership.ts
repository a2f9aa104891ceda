/** Numbers of groups and meters. Only ids in these ranges are ours; others on the same switch are left alone. */

const FLOOD_GROUPS = 653_000;
const MAX_SEGMENT = 65_535;
const PUNT_METERS = 6_530;
const MAX_CLASSES = 16;

/** The group that floods a segment. */
export const floodGroup = (segment: number): number => FLOOD_GROUPS + segment;

/** Whether a group is one of ours. */
export const ownsGroup = (groupId: number): boolean => groupId > FLOOD_GROUPS && groupId <= FLOOD_GROUPS + MAX_SEGMENT;

/** The meter that polices a class of packet-ins (punt.ts). */
export const puntMeter = (classId: number): number => PUNT_METERS + classId;

/** Whether a meter is one of ours. */
export const ownsMeter = (meterId: number): boolean => meterId > PUNT_METERS && meterId < PUNT_METERS + MAX_CLASSES;
