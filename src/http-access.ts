import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { FastifyInstance } from "fastify";
import { type AccessOptions, isLoopback } from "../controller/api/access.ts";
import { auditFile } from "../controller/api/audit.ts";
import { type Principal, readTokens, TokenFileError } from "../controller/api/tokens.ts";
import type { Endpoint } from "../controller/session/listener.ts";
import { CliError } from "./cli/command.ts";

/** How the HTTP side is protected, as the command line says it. */
export interface HttpAccess {
  /** Token file; without it nobody is asked for a token. */
  readonly tokens?: string;
  /** Certificate chain and key in PEM; both or none. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Serve everybody who can reach an address beyond loopback, without tokens. */
  readonly anonymous?: boolean;
}

export interface OpenedAccess {
  readonly options: AccessOptions;
  readonly tls: SecureContextOptions | undefined;
  /** Reads tokens and certificate again. @returns what is wrong; then the old ones stay */
  reload(app: FastifyInstance): string | undefined;
  close(): void;
}

/** Reads what protects the HTTP side. @throws CliError with a sentence for the operator */
export function openAccess(settings: HttpAccess & { readonly http: Endpoint; readonly data: string }): OpenedAccess {
  const loopbackOnly = isLoopback(settings.http.host);
  if (!loopbackOnly && settings.tokens === undefined && settings.anonymous !== true) {
    throw new CliError(
      `--http ${settings.http.host}: whoever reaches this address could change everything; give --tokens FILE, ` +
        "or --anonymous if the network is trusted",
      2,
    );
  }
  let tokens = settings.tokens === undefined ? undefined : tokensOf(settings.tokens);
  const tls = settings.tls === undefined ? undefined : certificateOf(settings.tls);
  const path = join(settings.data, "audit.log");
  let audit: ReturnType<typeof auditFile>;
  try {
    audit = auditFile(path);
  } catch (e) {
    throw new CliError(`--data: cannot write ${path}: ${(e as Error).message}`);
  }
  return {
    options: {
      audit,
      loopbackOnly,
      ...(tokens === undefined ? {} : { tokens: () => tokens as readonly Principal[] }),
    },
    tls,
    reload: (app) => {
      try {
        if (settings.tokens !== undefined) tokens = tokensOf(settings.tokens);
        if (settings.tls !== undefined && "setSecureContext" in app.server) {
          (app.server as { setSecureContext(options: SecureContextOptions): void }).setSecureContext(
            certificateOf(settings.tls),
          );
        }
        return undefined;
      } catch (e) {
        return (e as Error).message;
      }
    },
    close: () => audit.close(),
  };
}

function tokensOf(path: string): readonly Principal[] {
  try {
    return readTokens(path);
  } catch (e) {
    if (e instanceof TokenFileError) throw new CliError(`--tokens: ${e.message}`, 2);
    throw e;
  }
}

function certificateOf(files: { readonly cert: string; readonly key: string }): SecureContextOptions {
  const read = (option: string, path: string): Buffer => {
    try {
      return readFileSync(path);
    } catch (e) {
      throw new CliError(`${option}: ${path} cannot be read: ${(e as NodeJS.ErrnoException).code ?? "error"}`, 2);
    }
  };
  const pem = { cert: read("--tls-cert", files.cert), key: read("--tls-key", files.key) };
  try {
    createSecureContext(pem);
  } catch {
    throw new CliError(`--tls-cert and --tls-key: ${files.cert} and ${files.key} are no certificate and its key`, 2);
  }
  return pem;
}
