import { createHash, timingSafeEqual } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";

/** "read-only" may look at everything, "admin" may change things, too. */
export type AccessRole = "read-only" | "admin";

/** Somebody with a token. The token itself is not kept. */
export interface Principal {
  readonly name: string;
  readonly role: AccessRole;
  /** SHA-256 of the token. */
  readonly digest: Buffer;
}

/** A token file that cannot be used; the message has the file and the line, and no token. */
export class TokenFileError extends Error {}

const SHORTEST = 16;
const MAX_BYTES = 1024 * 1024;
const NAME = /^[A-Za-z0-9][\w.@-]{0,63}$/;
/** Visible ASCII, what a header can carry (RFC 6750 §2.1 allows less, clients send more). */
const TOKEN = /^[\x21-\x7e]+$/;
const DIGEST = /^sha256:([0-9a-fA-F]{64})$/;

export const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();

/**
 * Reads a file of tokens: a line `NAME ROLE TOKEN` each, or `NAME ROLE sha256:HEX` with the token's SHA-256 instead.
 * Others than the owner must not have access to it.
 *
 * @throws TokenFileError
 */
export function readTokens(path: string): readonly Principal[] {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    // The file that was opened, not one that a link may point to a moment later.
    const { mode, uid, size } = fstatSync(fd);
    const own = process.getuid?.() ?? uid;
    if ((mode & 0o077) !== 0) {
      throw new TokenFileError(
        `${path} is open to others (mode ${(mode & 0o777).toString(8)}): chmod 600 it, tokens are secrets`,
      );
    }
    if (uid !== own && uid !== 0) throw new TokenFileError(`${path} belongs to user ${uid}, not to this one (${own})`);
    if (size > MAX_BYTES) throw new TokenFileError(`${path} is larger than ${MAX_BYTES} bytes`);
    return parseTokens(readFileSync(fd, "utf8"), path);
  } catch (e) {
    if (e instanceof TokenFileError) throw e;
    throw new TokenFileError(`${path} cannot be read: ${(e as NodeJS.ErrnoException).code ?? "error"}`);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The text of a token file; see {@link readTokens}. */
export function parseTokens(text: string, file: string): readonly Principal[] {
  const found: Principal[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line.replace(/^\s*#.*$/, "").match(/\S+/g);
    if (words === null) continue;
    const fail = (message: string): never => {
      throw new TokenFileError(`${file}:${index + 1}: ${message}`);
    };
    const [name = "", role = "", token = ""] = words;
    if (words.length !== 3) fail("want NAME ROLE TOKEN on a line");
    if (!NAME.test(name)) fail("the name must be letters, digits, _ . @ - and at most 64 characters");
    if (role !== "read-only" && role !== "admin") fail(`the role must be read-only or admin`);
    const given = DIGEST.exec(token)?.[1];
    if (given === undefined && token.startsWith("sha256:")) fail("sha256: wants 64 hex digits behind it");
    if (given === undefined && (token.length < SHORTEST || !TOKEN.test(token))) {
      fail(`the token must have ${SHORTEST} or more visible ASCII characters, such as openssl rand -hex 24 makes`);
    }
    const digest = given === undefined ? digestOf(token) : Buffer.from(given, "hex");
    if (found.some((p) => p.name === name)) fail(`there is another token for ${name}`);
    if (found.some((p) => p.digest.equals(digest))) fail("this token is there twice");
    found.push({ name, role: role as AccessRole, digest });
  }
  if (found.length === 0) throw new TokenFileError(`${file}: there is no token in it`);
  return found;
}

/** Whose token it is. Takes as long for a wrong one as for a right one. */
export function principalOf(tokens: readonly Principal[], token: string): Principal | undefined {
  const digest = digestOf(token);
  let found: Principal | undefined;
  for (const p of tokens) if (timingSafeEqual(p.digest, digest)) found = p;
  return found;
}
