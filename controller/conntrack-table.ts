/** The connection table of a switch (dpctl/dump-conntrack of ovs-vswitchd(8)), read from its text. */
import { splitList } from "./ovs-text.ts";
import { unixctl } from "./unixctl.ts";

/** One end of a direction. */
interface Ends {
  readonly src: string;
  readonly dst: string;
  /** null for protocols without ports. */
  readonly sport: number | null;
  readonly dport: number | null;
}

/** A tracked connection. */
export interface TrackedConnection {
  /** "tcp", "udp", "icmp"… */
  readonly proto: string;
  /** As the first packet came. */
  readonly original: Ends;
  /** As answers come. */
  readonly reply: Ends;
  readonly zone: number;
  /** TCP's state in the words of the switch; null for other protocols. */
  readonly state: string | null;
  /** Seconds until it is forgotten; null when the switch does not say. */
  readonly timeout: number | null;
  readonly mark: number;
}

/** "name=value" items as a record; an item without "=" is the value of "". */
const record = (items: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    items.map((item) => {
      const at = item.indexOf("=");
      return at < 0 ? ["", item] : [item.slice(0, at), item.slice(at + 1)];
    }),
  );

/** The inside of "(…)". */
const inner = (text: string | undefined): Readonly<Record<string, string>> =>
  text?.startsWith("(") ? record(splitList(text.slice(1, -1))) : {};

const port = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

const ends = (text: string | undefined): Ends | undefined => {
  const { src, dst, sport, dport } = inner(text);
  return src === undefined || dst === undefined ? undefined : { src, dst, sport: port(sport), dport: port(dport) };
};

/** One line; undefined when it is none of a connection. */
export const readConnection = (line: string): TrackedConnection | undefined => {
  const [proto, ...items] = splitList(line.trim());
  const fields = record(items);
  const original = ends(fields["orig"]);
  const reply = ends(fields["reply"]);
  if (proto === undefined || original === undefined || reply === undefined) return undefined;
  const info = inner(fields["protoinfo"]);
  return {
    proto,
    original,
    reply,
    zone: Number(fields["zone"] ?? 0),
    state: info["state"] ?? info["state_orig"] ?? null,
    timeout: fields["timeout"] === undefined ? null : Number(fields["timeout"]),
    mark: Number(fields["mark"] ?? 0),
  };
};

/**
 * All connections that the switch behind `socket` tracks, in all its datapaths.
 *
 * @throws UnixctlError
 */
export async function dumpConnections(socket: string): Promise<readonly TrackedConnection[]> {
  const datapaths = (await unixctl(socket, "dpctl/dump-dps")).split("\n").filter((name) => name !== "");
  const texts = await Promise.all(
    datapaths.map((name) => unixctl(socket, "dpctl/dump-conntrack", ["-s", name], DUMP_TIMEOUT)),
  );
  return texts.flatMap((text) => text.split("\n").flatMap((line) => readConnection(line) ?? []));
}

/** A table of a million entries takes its time. */
const DUMP_TIMEOUT = 60_000;
