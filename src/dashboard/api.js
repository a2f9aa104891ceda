// @ts-check
/** The daemon's API, relative to this page, so that a prefix in front of it does no harm. */

const KEY = "token";

/** A refusal, with the daemon's words. */
export class ApiError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @returns {Record<string, string>} */
export function tokenHeader(token = sessionStorage.getItem(KEY)) {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

export const hasToken = () => sessionStorage.getItem(KEY) !== null;

/** @param {string} token */
export const setToken = (token) => sessionStorage.setItem(KEY, token);

/**
 * @template T
 * @param {string} path
 * @param {{method?: string, body?: unknown, token?: string}} [options] with another token than the one kept
 * @returns {Promise<T>}
 */
export async function api(path, { method = "GET", body, token } = {}) {
  const response = await fetch(path, {
    method,
    headers: { ...tokenHeader(token), ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  if (!response.ok) {
    let message = `the daemon answers ${response.status}`;
    try {
      message = JSON.parse(text).message ?? message;
    } catch {
      // Somebody in between has answered.
    }
    throw new ApiError(response.status, message);
  }
  return JSON.parse(text);
}
