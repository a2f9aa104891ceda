import { patience } from "./patience.ts";
import { attempt, LabError } from "./shell.ts";

/** Outcome of one HTTP request on a connection of its own. */
export interface RequestResult {
  readonly ok: boolean;
  /** HTTP status, 0 without an answer. */
  readonly status: number;
  readonly body: string;
  /** Seconds from the start to the end of the request. */
  readonly seconds: number;
  readonly localPort: number;
  /** What curl says about a failure, else "". */
  readonly error: string;
  /** Who answered, which client address it saw and on which address it served: the fields of the backend's line. */
  readonly backend: string;
  readonly client: string;
  readonly served: string;
}

export interface RequestOptions {
  /** Seconds for one request (see {@link patience}); 3 unless told. */
  readonly maxTime?: number;
}

const marker = "@@request";

/** Sends `count` requests one after the other from a network namespace, in one curl process. */
export async function requestFrom(
  namespace: string,
  url: string,
  count: number,
  { maxTime = 3 }: RequestOptions = {},
): Promise<readonly RequestResult[]> {
  const argv = ["ip", "netns", "exec", namespace, "curl", "-s", "--noproxy", "*", "-H", "Connection: close"];
  const format = `\\n${marker} %{http_code} %{time_total} %{local_port} %{errormsg}\\n`;
  // curl's status is that of the last request only; each request's own outcome is in its line.
  const { stdout, stderr } = await attempt(
    [...argv, "--max-time", `${patience(maxTime)}`, "-w", format, ...Array<string>(count).fill(url)],
    { timeoutMs: (maxTime * count + 10) * 1000 },
  );
  const results = parse(stdout);
  if (results.length !== count) throw new LabError(`curl reported ${results.length} of ${count} requests: ${stderr}`);
  return results;
}

function parse(output: string): readonly RequestResult[] {
  const pattern = new RegExp(`^${marker} (\\d+) ([\\d.]+) (\\d+) ?(.*)$`, "gm");
  let begin = 0;
  return Array.from(output.matchAll(pattern), (match) => {
    const [whole, status = "0", seconds = "0", localPort = "0", error = ""] = match;
    const body = output.slice(begin, match.index).trim();
    begin = match.index + whole.length;
    return {
      ok: status.startsWith("2"),
      status: Number(status),
      body,
      seconds: Number(seconds),
      localPort: Number(localPort),
      error,
      backend: field(body, "backend"),
      client: field(body, "client").replace(/:\d+$/, ""),
      served: field(body, "served"),
    };
  });
}

function field(body: string, name: string): string {
  return new RegExp(`(?:^|\\s)${name}=(\\S+)`).exec(body)?.[1] ?? "";
}
