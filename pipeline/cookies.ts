/**
 * Cookies: who made a flow, and for what. 64 bits: owner (16) | feature (8) | kind of object (8) | object id (32).
 *
 * The owner tells our flows from everybody else's on the same bridge. Flows the switch itself makes by `learn` carry
 * our owner too, with features of their own, because they live and die by the switch's timers and not by our plans.
 */

/** "LB". */
const OWNER = 0x4c42n;

/** Numbers are for ever: they are in switches that run. */
const featureCodes = {
  ingress: 1,
  classify: 2,
  arp: 3,
  echo: 4,
  vip: 5,
  listener: 6,
  slot: 7,
  member: 8,
  return: 9,
  ttl: 10,
  routing: 11,
  adjacency: 12,
  switching: 13,
  probe: 14,
  hairpin: 0x11,
  fragments: 0x12,
  guard: 0x13,
  "learned-fdb": 0x20,
  "learned-adjacency": 0x21,
  "learned-connection": 0x22,
  "learned-open": 0x23,
} as const;

/** The part of the pipeline a flow comes from. */
export type FeatureName = keyof typeof featureCodes;

/** Numbers are for ever, as above. */
const objectCodes = { none: 0, segment: 1, port: 2, address: 3, listener: 4, pool: 5, member: 6, prefix: 7 } as const;

/** What the object id of a cookie counts. "address" is an IPv4 address, "prefix" the address of a route's prefix. */
type ObjectKind = keyof typeof objectCodes;

/** The thing a flow is there for. */
export interface ObjectRef {
  readonly kind: ObjectKind;
  /** 32 bits, unsigned. */
  readonly id: number;
}

/** What one of our cookies says. */
export interface CookieParts {
  readonly feature: FeatureName;
  readonly object: ObjectRef;
}

const featureByCode = new Map(Object.entries(featureCodes).map(([name, code]) => [code as number, name]));
const objectByCode = new Map(Object.entries(objectCodes).map(([name, code]) => [code as number, name]));

/** Flows whose cookie equals {@link ownerCookie} under {@link ownerMask} are ours. */
export const ownerCookie = OWNER << 48n;
export const ownerMask = 0xffffn << 48n;

/** Set in the cookies of learned flows and in no others of ours, so that one masked dump can leave them out. */
export const learnedBit = 1n << 45n;

export const noObject: ObjectRef = { kind: "none", id: 0 };

/** Builds a cookie. */
export const cookie = (feature: FeatureName, object: ObjectRef = noObject): bigint =>
  ownerCookie |
  (BigInt(featureCodes[feature]) << 40n) |
  (BigInt(objectCodes[object.kind]) << 32n) |
  BigInt(object.id >>> 0);

/** Whether a flow is ours, learned ones included. */
export const isOurs = (value: bigint): boolean => (value & ownerMask) === ownerCookie;

/** Whether a flow was made by the switch through one of our `learn` actions. */
export const isLearned = (value: bigint): boolean => isOurs(value) && ((value >> 45n) & 0x7n) === 1n;

/** Reads a cookie; undefined when it is not ours or of a later version with more features. */
export const parseCookie = (value: bigint): CookieParts | undefined => {
  if (!isOurs(value)) return undefined;
  const feature = featureByCode.get(Number((value >> 40n) & 0xffn));
  const kind = objectByCode.get(Number((value >> 32n) & 0xffn));
  if (feature === undefined || kind === undefined) return undefined;
  return {
    feature: feature as FeatureName,
    object: { kind: kind as ObjectKind, id: Number(value & 0xffff_ffffn) },
  };
};

/** Cookie and mask that select the flows of one feature, for dumps and deletes. */
export const featureSelector = (feature: FeatureName): { readonly cookie: bigint; readonly mask: bigint } => ({
  cookie: cookie(feature),
  mask: 0xffff_ff00_0000_0000n,
});
