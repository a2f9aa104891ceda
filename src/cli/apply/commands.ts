/** `apply`, `diff`, `get`, `delete`, `wait`: load balancers as a file says. */
import { setTimeout as sleep } from "node:timers/promises";
import { formatErrors } from "../../config/errors.ts";
import { decodeText, type FileText, readTextFile } from "../../config/file.ts";
import { exchange } from "../client.ts";
import { CLIENT_OPTION_HELP, CLIENT_OPTIONS, CliError, type Command, type Invocation, UsageError } from "../command.ts";
import { table } from "../table.ts";
import { type Change, decide, deleteBalancer } from "./decide.ts";
import type { Balancer } from "./objects.ts";
import { changeLine, changeView, makeChanges } from "./run.ts";
import { type Api, type BalancerRow, balancerRows, readBalancers, shownName } from "./server.ts";
import { parseWanted } from "./wanted.ts";
import { fileData, yamlOf } from "./write-yaml.ts";

const apiOf =
  (call: Invocation): Api =>
  (method, path, body) =>
    exchange(call, method, path, body);

const readInput = async (): Promise<FileText> => {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return decodeText(Buffer.concat(chunks), "-");
};

const fileOf = async (call: Invocation): Promise<readonly Balancer[]> => {
  const path = call.values["file"] as string | undefined;
  if (path === undefined) throw new UsageError("-f FILE is missing");
  const file = path === "-" ? await readInput() : readTextFile(path);
  const read = file.ok ? parseWanted(file.text, path) : file;
  if (!read.ok) throw new CliError(`the file has errors\n${formatErrors(read.errors)}`, 2);
  return read.value;
};

const decided = async (call: Invocation): Promise<readonly Change[]> => {
  const wanted = await fileOf(call);
  const names = new Set(wanted.map((lb) => lb.self.name));
  const existing = await readBalancers(apiOf(call), (row) => names.has(shownName(row)));
  const decision = decide(wanted, existing, call.values["prune"] === true);
  if (!decision.ok) throw new CliError(decision.refusals.join("\n"));
  return decision.changes;
};

/** Makes the changes and says each; of a failure also what was done before. */
const carryOut = async (call: Invocation, changes: readonly Change[]): Promise<number> => {
  const { io, values } = call;
  const json = values["json"] === true;
  const made: Change[] = [];
  const report = (error?: string): void =>
    io.out(JSON.stringify({ changes: made.map(changeView), ...(error === undefined ? {} : { error }) }, null, 2));
  const done = (change: Change): void => {
    made.push(change);
    if (!json) io.out(changeLine(change));
  };
  try {
    await makeChanges(apiOf(call), changes, done, sleep);
  } catch (e) {
    if (!(e instanceof CliError)) throw e;
    if (json) report(e.message);
    throw new CliError(`${e.message}\n${made.length} of ${changes.length} changes were made`, e.exitCode);
  }
  if (json) report();
  else if (changes.length === 0) io.out("unchanged");
  return 0;
};

const showPlanned = ({ io, values }: Invocation, changes: readonly Change[]): void => {
  if (values["json"] === true) io.out(JSON.stringify({ changes: changes.map(changeView) }, null, 2));
  else io.out(changes.map((change) => changeLine(change, true)).join("\n") || "unchanged");
};

const FILE_OPTION = { file: { type: "string", short: "f" } } as const;
const FILE_HELP = [
  "-f, --file FILE",
  "load balancers in the words of the topology file; - is the standard input",
] as const;
const PRUNE_HELP = ["--prune", "inside the load balancers of the file, delete what is not in it"] as const;

const applyCommand: Command = {
  name: "apply",
  summary: "make load balancers as a file says",
  usage: "-f FILE [--dry-run] [--prune] [--json]",
  options: { ...FILE_OPTION, "dry-run": { type: "boolean" }, prune: { type: "boolean" }, ...CLIENT_OPTIONS },
  optionHelp: [FILE_HELP, ["--dry-run", "show the changes and make none"], PRUNE_HELP, ...CLIENT_OPTION_HELP],
  examples: ["lbctl apply -f fixtures/shop.yaml", "lbctl get lb/shop -o yaml | lbctl apply --dry-run -f -"],
  operands: [0, 0],
  run: async (call) => {
    const changes = await decided(call);
    if (call.values["dry-run"] !== true) return await carryOut(call, changes);
    showPlanned(call, changes);
    return 0;
  },
};

const diffCommand: Command = {
  name: "diff",
  summary: "what apply would change; exits 1 unless that is nothing",
  usage: "-f FILE [--prune] [--json]",
  options: { ...FILE_OPTION, prune: { type: "boolean" }, ...CLIENT_OPTIONS },
  optionHelp: [FILE_HELP, PRUNE_HELP, ...CLIENT_OPTION_HELP],
  examples: ["lbctl diff -f fixtures/shop.yaml"],
  operands: [0, 0],
  run: async (call) => {
    const changes = await decided(call);
    showPlanned(call, changes);
    return changes.length === 0 ? 0 : 1;
  },
};

/** The name in "lb/NAME"; undefined for "lb" alone. */
const lbName = (operand: string): string | undefined => {
  const [kind, name, ...more] = operand.split("/");
  if (kind !== "lb" || name === "" || more.length > 0) throw new UsageError(`"${operand}" is not lb or lb/NAME`);
  return name;
};

/** Whether a row is meant by a name, or by its id. */
const isCalled = (row: BalancerRow, name: string): boolean => row.name === name || row.id === name;

const oneOf = <T>(name: string, found: readonly T[], id: (found: T) => string): T => {
  const [only, ...others] = found;
  if (only === undefined) throw new CliError(`there is no load balancer ${name}`);
  if (others.length === 0) return only;
  throw new CliError(`the server has ${found.length} load balancers ${name}: ${found.map(id).join(", ")}; say the id`);
};

const showRows = (rows: readonly BalancerRow[]): string =>
  table(rows, [
    { title: "name", cell: (r) => r.name || "-" },
    { title: "addresses", cell: (r) => [r.vip_address, ...r.additional_vips.map((v) => v.ip_address)].join(",") },
    { title: "operating", cell: (r) => r.operating_status },
    { title: "provisioning", cell: (r) => r.provisioning_status },
    { title: "id", cell: (r) => r.id },
  ]);

const getCommand: Command = {
  name: "get",
  summary: "load balancers made through the API; as YAML, a file for apply",
  usage: "lb[/NAME] [-o table|yaml|json]",
  options: { output: { type: "string", short: "o" }, ...CLIENT_OPTIONS },
  optionHelp: [["-o, --output FORMAT", "table (default), yaml or json"], ...CLIENT_OPTION_HELP],
  examples: ["lbctl get lb", "lbctl get lb/shop -o yaml > shop.yaml"],
  operands: [1, 1],
  run: async (call) => {
    const name = lbName(call.positionals[0]!);
    const format = (call.values["output"] as string | undefined) ?? (call.values["json"] === true ? "json" : "table");
    if (!["table", "yaml", "json"].includes(format)) throw new UsageError(`-o: "${format}" is not table, yaml or json`);
    const api = apiOf(call);
    const meant = (row: BalancerRow): boolean => name === undefined || isCalled(row, name);
    if (format === "table") {
      const rows = (await balancerRows(api)).filter(meant);
      call.io.out(showRows(name === undefined ? rows : [oneOf(name, rows, (r) => r.id)]));
      return 0;
    }
    const all = await readBalancers(api, meant);
    const balancers = name === undefined ? all : [oneOf(name, all, (b) => b.self.id)];
    call.io.out(format === "yaml" ? yamlOf(balancers) : JSON.stringify(fileData(balancers), null, 2));
    return 0;
  },
};

const deleteCommand: Command = {
  name: "delete",
  summary: "delete load balancers with all that is in them",
  usage: "lb/NAME | -f FILE",
  options: { ...FILE_OPTION, ...CLIENT_OPTIONS },
  optionHelp: [FILE_HELP, ...CLIENT_OPTION_HELP],
  examples: ["lbctl delete lb/shop", "lbctl delete -f fixtures/shop.yaml"],
  operands: [0, 1],
  run: async (call) => {
    const [operand] = call.positionals;
    if ((operand === undefined) === (call.values["file"] === undefined)) {
      throw new UsageError("either lb/NAME or -f FILE is wanted");
    }
    const name = operand === undefined ? undefined : lbName(operand);
    if (operand !== undefined && name === undefined) throw new UsageError("which load balancer? lb/NAME is wanted");
    const names = name === undefined ? (await fileOf(call)).map((lb) => lb.self.name) : [name];
    const rows = await balancerRows(apiOf(call));
    // From a file, what is not there is as it should be.
    const found = names.flatMap((wanted) => {
      const called = rows.filter((row) => isCalled(row, wanted));
      return called.length === 0 && name === undefined ? [] : [oneOf(wanted, called, (r) => r.id)];
    });
    const changes = found.map((row) => deleteBalancer({ id: row.id, name: shownName(row), fixed: {}, words: {} }));
    return await carryOut(call, changes);
  },
};

/** Milliseconds somebody waits who has pressed Tab. */
const namesTimeout = 1000;

/** What completion offers as operands. Names that a shell could take for more than a word are given as ids. */
const namesCommand: Command = {
  name: "__names",
  hidden: true,
  summary: "names for completion",
  usage: "",
  options: CLIENT_OPTIONS,
  optionHelp: CLIENT_OPTION_HELP,
  examples: [],
  operands: [0, 0],
  run: async (call) => {
    const rows = await balancerRows((method, path, body) => exchange(call, method, path, body, namesTimeout));
    for (const { id, name } of rows) call.io.out(`lb/${/^[\w.-]+$/.test(name) ? name : id}`);
    return 0;
  },
};

/** Milliseconds between looks. */
const lookEvery = 300;

const waitCommand: Command = {
  name: "wait",
  summary: "wait until a load balancer is ONLINE, ACTIVE or deleted",
  usage: "--for ONLINE|ACTIVE|deleted lb/NAME [--timeout SECONDS]",
  options: { for: { type: "string" }, timeout: { type: "string" }, ...CLIENT_OPTIONS },
  optionHelp: [
    ["--for STATE", "ONLINE (it serves), ACTIVE (it is stored) or deleted"],
    ["--timeout SECONDS", "exit 1 after so long (default 60)"],
    ...CLIENT_OPTION_HELP,
  ],
  examples: ["lbctl wait --for=ONLINE lb/shop", "lbctl wait --for=deleted lb/shop --timeout 10"],
  operands: [1, 1],
  run: async (call) => {
    const state = call.values["for"];
    if (state !== "ONLINE" && state !== "ACTIVE" && state !== "deleted") {
      throw new UsageError("--for: ONLINE, ACTIVE or deleted is wanted");
    }
    const name = lbName(call.positionals[0]!);
    if (name === undefined) throw new UsageError("which load balancer? lb/NAME is wanted");
    const seconds = Number(call.values["timeout"] ?? 60);
    if (!Number.isFinite(seconds) || seconds < 0) throw new UsageError("--timeout: seconds are wanted");
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const rows = (await balancerRows(apiOf(call))).filter((row) => isCalled(row, name));
      const row = rows.length === 0 ? undefined : oneOf(name, rows, (r) => r.id);
      const now = row === undefined ? "deleted" : `${row.operating_status}, ${row.provisioning_status}`;
      if (now.split(", ").includes(state)) {
        call.io.out(call.values["json"] === true ? JSON.stringify({ name, state }) : `lb/${name} is ${state}`);
        return 0;
      }
      if (Date.now() >= end) throw new CliError(`lb/${name} is ${now} after ${seconds} s, not ${state}`);
      await sleep(Math.max(0, Math.min(lookEvery, end - Date.now())));
    }
  },
};

export const applyCommands: readonly Command[] = [
  applyCommand,
  diffCommand,
  getCommand,
  deleteCommand,
  waitCommand,
  namesCommand,
];
