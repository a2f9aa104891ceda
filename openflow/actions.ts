import { pad, u16, u32 } from "./schema/codec.ts";
import { tlvList, type Unknown, type ValueOf, variant } from "./schema/tlv.ts";

const output = variant(0, "output", { port: u32, maxLen: u16, _: pad(6) }, (a) => `output:${a.port}`);
const group = variant(22, "group", { groupId: u32 }, (a) => `group:${a.groupId}`);
const decTtl = variant(24, "dec_ttl", { _: pad(4) }, () => "dec_ttl");
const all = [output, group, decTtl] as const;
export type Action = ValueOf<(typeof all)[number]> | Unknown;
export const actions = tlvList(all, {
  align: 8,
  lengthCoversPadding: true,
  badLength: "OFPBAC_BAD_LEN",
  experimenters: true,
});
