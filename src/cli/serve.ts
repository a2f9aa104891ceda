import { type Endpoint, ListenError } from "../../controller/session/listener.ts";
import { startDaemon } from "../daemon.ts";
import { CliError, type Command, UsageError } from "./command.ts";

/** "HOST:PORT", "[V6]:PORT", ":PORT" or "PORT". */
function endpoint(text: string, option: string, defaultHost: string): Endpoint {
  const m = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):)?(\d{1,5})$/.exec(text);
  const port = m ? Number(m[3]) : Number.NaN;
  if (!m || port > 65_535) throw new UsageError(`${option}: "${text}" is not HOST:PORT (for instance 127.0.0.1:6653)`);
  return { host: m[1] ?? (m[2] || defaultHost), port };
}

const LEVELS = ["trace", "debug", "info", "warn", "error"];

export const serveCommand: Command = {
  name: "serve",
  summary: "run the controller",
  usage:
    "--config FILE [--data DIR] [--listen HOST:PORT] [--http HOST:PORT] [--tokens FILE] [--tls-cert FILE --tls-key FILE]",
  options: {
    config: { type: "string" },
    data: { type: "string" },
    listen: { type: "string" },
    http: { type: "string" },
    tokens: { type: "string" },
    "tls-cert": { type: "string" },
    "tls-key": { type: "string" },
    anonymous: { type: "boolean" },
    "log-level": { type: "string" },
  },
  optionHelp: [
    ["--config FILE", "topology in YAML; SIGHUP reads it again"],
    ["--data DIR", "folder for what must outlive the process (default /var/lib/openflow-lb)"],
    ["--listen HOST:PORT", "where switches connect (default 0.0.0.0:6653)"],
    ["--http HOST:PORT", "HTTP API, metrics and web page (default 127.0.0.1:9876)"],
    ["--tokens FILE", "ask for a token: lines NAME ROLE TOKEN, role read-only or admin; SIGHUP reads it again"],
    ["--tls-cert FILE", "certificate chain in PEM: the HTTP side speaks TLS; SIGHUP reads it again"],
    ["--tls-key FILE", "its private key"],
    ["--anonymous", "let --http be an address beyond loopback without tokens"],
    ["--log-level LEVEL", `${LEVELS.join(", ")} (default info)`],
  ],
  examples: [
    "lbctl serve --config /etc/openflow-lb/topology.yaml",
    "lbctl serve --config /etc/openflow-lb/topology.yaml --http 0.0.0.0:9876 --tokens /etc/openflow-lb/tokens",
    "lbctl serve --config fixtures/topology.yaml --data /tmp/lb --listen 127.0.0.1:6653",
  ],
  operands: [0, 0],
  run: async ({ values, io }) => {
    const config = values["config"] as string | undefined;
    if (config === undefined) throw new UsageError("--config FILE is missing");
    const level = (values["log-level"] as string | undefined) ?? "info";
    if (!LEVELS.includes(level)) throw new UsageError(`--log-level: "${level}" is not one of ${LEVELS.join(", ")}`);
    const cert = values["tls-cert"] as string | undefined;
    const key = values["tls-key"] as string | undefined;
    if ((cert === undefined) !== (key === undefined)) throw new UsageError("--tls-cert and --tls-key go together");
    try {
      const daemon = await startDaemon({
        config,
        data: (values["data"] as string | undefined) ?? "/var/lib/openflow-lb",
        listen: endpoint((values["listen"] as string | undefined) ?? "0.0.0.0:6653", "--listen", "0.0.0.0"),
        http: endpoint((values["http"] as string | undefined) ?? "127.0.0.1:9876", "--http", "127.0.0.1"),
        logLevel: level,
        anonymous: values["anonymous"] === true,
        ...(values["tokens"] === undefined ? {} : { tokens: values["tokens"] as string }),
        ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }),
      });
      process.on("SIGHUP", () => void daemon.reload());
      await new Promise<void>((resolve) => {
        process.once("SIGTERM", resolve);
        process.once("SIGINT", resolve);
      });
      await daemon.stop();
      return 0;
    } catch (e) {
      if (e instanceof ListenError) throw new CliError(e.message);
      if (e instanceof CliError) throw e;
      io.err(`lbctl serve: ${e instanceof Error ? e.message : String(e)}`);
      return 1;
    }
  },
};
