/** Load balancers of the server as a file that `lbctl apply` takes. */
import { stringify } from "yaml";
import { CliError } from "../command.ts";
import type { Balancer, Existing, Thing, Words } from "./objects.ts";
import { parseWanted } from "./wanted.ts";

/** Without what is left to the daemon, and what is so unless it is said. */
const brief = (words: Words, usual: Words = {}): Words =>
  Object.fromEntries(Object.entries(words).filter(([word, value]) => value !== null && value !== usual[word]));

const entry = ({ name, fixed, words }: Thing, usual: Words): Words => ({
  name,
  ...brief(fixed),
  ...brief(words, { enabled: true, ...usual }),
});

/** The load balancers in the words of the file, as plain data. */
export const fileData = (balancers: readonly Balancer<Existing>[]): object => ({
  load_balancers: balancers.map((lb) => ({
    ...entry(lb.self, {}),
    vips: lb.vips,
    listeners: lb.listeners.map((l) => entry(l, {})),
    pools: lb.pools.map(({ self, members, monitor }) => ({
      // The pool's protocol is that of its listeners.
      ...entry({ ...self, fixed: {} }, { algorithm: "consistent" }),
      ...(monitor === undefined ? {} : { health_monitor: { ...brief(monitor.fixed), ...brief(monitor.words) } }),
      members: members.map((m) => entry(m, { backup: false })),
    })),
  })),
});

/** @throws CliError when the file would not be taken, for instance because of a name with spaces */
export const yamlOf = (balancers: readonly Balancer<Existing>[]): string => {
  const text = stringify(fileData(balancers));
  const read = parseWanted(text, "");
  if (read.ok) return text.trimEnd();
  const reasons = read.errors.map((e) => `${e.field}: ${e.message}`).join("; ");
  throw new CliError(`the file has no words for what is on the server: ${reasons}`);
};
