/** Text of the learn action (ovs-actions(7), "The learn action"). */
import type { Learn, LearnSpec } from "../action-values-nx.ts";
import { codePointByText, fieldByName } from "../fields.ts";
import { definition, type Subfield } from "../subfield.ts";
import { ParseError } from "./parse-error.ts";
import { move, subfield, target } from "./parse-set.ts";
import { arrow, bigInteger, integer, type KeyValue, type Piece, scan } from "./scan.ts";
import { parseValue } from "./value.ts";

const DEFAULTS: Omit<Learn, "kind" | "specs"> = {
  table: 1,
  priority: 0x8000,
  cookie: 0n,
  idleTimeout: 0,
  hardTimeout: 0,
  finIdleTimeout: 0,
  finHardTimeout: 0,
  sendFlowRem: false,
  deleteLearned: false,
};
const POSSIBLE = [
  "table=N",
  "priority=N",
  "idle_timeout=SECONDS",
  "hard_timeout=SECONDS",
  "fin_idle_timeout=SECONDS",
  "fin_hard_timeout=SECONDS",
  "cookie=N",
  "send_flow_rem",
  "delete_learned",
  "limit=N",
  "result_dst=FIELD[BIT]",
  "FIELD=VALUE",
  "FIELD[]",
  "FIELD[]=FIELD[]",
  "load:VALUE->FIELD[]",
  "load:FIELD[]->FIELD[]",
  "output:FIELD[]",
];

function constant(value: Piece, dst: Subfield): bigint {
  const n = bigInteger(value, 128, dst.field);
  if (n >> BigInt(dst.nBits) !== 0n) {
    throw new ParseError(value.column, `${value.text} does not fit ${dst.nBits} bits`, []);
  }
  return n;
}

/** Learn names fields by NXM words, which experimenters' fields do not have. */
function nameable(s: Subfield, at: Piece): Subfield {
  if (definition(s.field).nxm.experimenter === undefined) return s;
  throw new ParseError(at.column, `learn cannot name the experimenter's field ${s.field}`, []);
}

/** Whether the right side of `=` names bits rather than a value. */
const namesBits = (text: string): boolean =>
  /^[a-z_]\w*\[/i.test(text) || fieldByName(text) !== undefined || codePointByText(text) !== undefined;

function matchSpec(item: KeyValue): LearnSpec {
  const key: Piece = { text: item.key, column: item.column };
  const { value } = item;
  const dst = nameable(subfield(key), key);
  if (value.text === "") return { kind: "match", dst, src: dst };
  if (namesBits(value.text)) {
    const src = nameable(subfield(value), value);
    if (src.nBits !== dst.nBits) {
      throw new ParseError(value.column, `${src.nBits} bits are matched against ${dst.nBits}`, []);
    }
    return { kind: "match", dst, src };
  }
  const def = definition(dst.field);
  if (dst.nBits !== def.bits) return { kind: "match", dst, src: constant(value, dst) };
  const parsed = parseValue(def, value.text, value.column);
  // Flags say a mask of those that exist; together they are the field.
  const whole = parsed.mask === undefined || (BigInt(parsed.mask) & BigInt(def.valid)) === BigInt(def.valid);
  if (!whole) throw new ParseError(value.column, "learn matches no masked constants", ["VALUE"]);
  const n = BigInt(parsed.value);
  if (n >> BigInt(def.bits) !== 0n)
    throw new ParseError(value.column, `${value.text} does not fit ${def.bits} bits`, []);
  return { kind: "match", dst, src: n };
}

function loadSpec(arg: Piece): LearnSpec {
  if (!/^[0-9]/.test(arg.text)) {
    const { src, dst } = move(arg);
    return { kind: "load", dst: nameable(dst, arg), src: nameable(src, arg) };
  }
  const { from, to } = arrow(arg);
  const dst = nameable(target(to), to);
  return { kind: "load", dst, src: constant(from, dst) };
}

export function parseLearn(arg: Piece): Learn {
  const v: { -readonly [K in keyof Omit<Learn, "specs">]: Learn[K] } = { kind: "learn", ...DEFAULTS };
  const specs: LearnSpec[] = [];
  for (const item of scan(arg)) {
    const { key, value } = item;
    const u16 = (): number => integer(value, 16, key);
    if (key === "table") {
      v.table = integer(value, 8, key);
      if (v.table === 0xff) throw new ParseError(value.column, "there is no table 255", []);
    } else if (key === "priority") v.priority = u16();
    else if (key === "idle_timeout") v.idleTimeout = u16();
    else if (key === "hard_timeout") v.hardTimeout = u16();
    else if (key === "fin_idle_timeout") v.finIdleTimeout = u16();
    else if (key === "fin_hard_timeout") v.finHardTimeout = u16();
    else if (key === "cookie") v.cookie = bigInteger(value, 64, key);
    else if (key === "send_flow_rem") v.sendFlowRem = true;
    else if (key === "delete_learned") v.deleteLearned = true;
    else if (key === "limit") v.limit = integer(value, 32, key);
    else if (key === "result_dst") {
      v.resultDst = target(value);
      v.limit ??= 0;
      if (v.resultDst.nBits !== 1) throw new ParseError(value.column, "one bit is wanted", ["FIELD[BIT]"]);
    } else if (key === "load") specs.push(loadSpec(value));
    else if (key === "output") specs.push({ kind: "output", src: nameable(subfield(value), value) });
    else if (fieldByName(key) || key.includes("[")) specs.push(matchSpec(item));
    else throw new ParseError(item.column, `learn has no argument "${key}"`, POSSIBLE);
  }
  // Without a limit and a result the older form of the action says it all.
  const { limit, ...unlimited } = v;
  return limit === 0 && !v.resultDst ? { ...unlimited, specs } : { ...v, specs };
}
