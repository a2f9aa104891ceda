import type { MessageOfType } from "../messages/all.ts";
import { GROUP_ANY, GroupType } from "../messages/group.ts";
import { Port } from "../messages/port.ts";
import { parseActions } from "./parse-actions.ts";
import { ParseError } from "./parse-error.ts";
import { parsePort } from "./ports.ts";
import type { Bucket } from "./print-group.ts";
import { integer, oneOf, type Piece, scan, unknownKey } from "./scan.ts";

export { formatGroup } from "./print-group.ts";

/** A group as a GROUP_MOD or a description names it. */
export type Group = Pick<MessageOfType<"group_mod">, "groupType" | "groupId" | "buckets">;

const TYPES: Readonly<Record<string, number>> = {
  all: GroupType.all,
  select: GroupType.select,
  indirect: GroupType.indirect,
  ff: GroupType.ff,
  fast_failover: GroupType.ff,
};

const BUCKET = /(^|[\s,])bucket\s*=/g;
const WORDS = ["group_id", "type", "bucket"];

/** Pieces of `text` after each `bucket=`, and what comes before the first. */
function splitBuckets(text: string): { readonly head: string; readonly buckets: readonly Piece[] } {
  const starts = [...text.matchAll(BUCKET)].map((m) => ({ from: m.index, to: m.index + m[0].length }));
  const buckets = starts.map(({ to }, i) => ({ text: text.slice(to, starts[i + 1]?.from), column: to }));
  return { head: text.slice(0, starts[0]?.from), buckets };
}

/** What stands before a bucket's actions, and may be left out. */
const ACTIONS = /^(.*?)(^|[\s,])actions?\s*[=:]/;

/**
 * One bucket. Its own words are blanked, so that columns in the rest, which is the actions, stay true;
 * `bucket=output:1` is short for `bucket=actions=output:1`.
 */
function parseBucket(piece: Piece, type: number): Bucket {
  let weight = type === GroupType.select ? 1 : 0;
  let watchPort: number = Port.any;
  let watchGroup = GROUP_ANY;
  let rest = piece.text.replace(ACTIONS, (all, before: string) => before.padEnd(all.length));
  for (const item of scan({ text: rest, column: 0 })) {
    const value = { ...item.value, column: piece.column + item.value.column };
    if (item.key === "weight") weight = integer(value, 16, "a weight");
    else if (item.key === "watch_group") watchGroup = integer(value, 32, "a group");
    else if (item.key === "watch_port") {
      const port = parsePort(value.text);
      if (port === undefined) throw new ParseError(value.column, `"${value.text}" is not a port`, ["NUMBER"]);
      watchPort = port;
    } else if (item.key !== "bucket_id") continue;
    const end = item.value.column + item.value.text.length;
    rest = rest.slice(0, item.column) + " ".repeat(end - item.column) + rest.slice(end);
  }
  return { weight, watchPort, watchGroup, actions: parseActions(rest, {}, piece.column) };
}

/** How a select group chooses can be said only from OpenFlow 1.5 on; ovs-ofctl leaves these out too. */
const NOT_IN_13 = ["selection_method", "selection_method_param", "fields"];

/**
 * Reads a group as people type it for ovs-ofctl (ovs-ofctl(8), Group Syntax) or as `dump-groups` prints it:
 * `group_id=9,type=all,bucket=actions=output:1,bucket=actions=output:2`.
 * @throws ParseError with the column in `text`
 */
export function parseGroup(text: string): Group {
  const { head, buckets } = splitBuckets(text);
  let groupId: number | undefined;
  let groupType: number | undefined;
  for (const item of scan({ text: head, column: 0 })) {
    if (item.key === "group_id") groupId = integer(item.value, 32, "a group");
    else if (item.key === "type") groupType = TYPES[oneOf(item.value, Object.keys(TYPES), "group type")];
    else if (!NOT_IN_13.includes(item.key)) throw unknownKey(item, "a group", WORDS);
  }
  if (groupId === undefined) throw new ParseError(0, "a group has a number", ["group_id=…"]);
  if (groupType === undefined) throw new ParseError(head.length, "a group has a type", ["type=…"]);
  const type = groupType;
  return { groupType: type, groupId, buckets: buckets.map((b) => parseBucket(b, type)) };
}
