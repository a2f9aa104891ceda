/** Addresses as people write them, for the sentences that go with flows. */
import type { Ipv4, Mac, Prefix } from "./model.ts";

export const ipText = (ip: Ipv4): string => `${ip >>> 24}.${(ip >>> 16) & 0xff}.${(ip >>> 8) & 0xff}.${ip & 0xff}`;

export const macText = (mac: Mac): string => mac.toString(16).padStart(12, "0").match(/../g)!.join(":");

export const prefixText = (p: Prefix): string => `${ipText(p.address)}/${p.length}`;
