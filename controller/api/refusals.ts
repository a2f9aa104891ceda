/** Requests that are refused: each is answered with its status and its message. */

/** A request the caller must change. */
export class BadRequest extends Error {
  readonly statusCode: number = 400;
}

/** Nobody is known by the given token, or none is given. */
export class Unauthorized extends BadRequest {
  override readonly statusCode = 401;
}

/** The caller is known and may not do this. */
export class Forbidden extends BadRequest {
  override readonly statusCode = 403;
}

/** Something is asked for that is not there. */
export class NotFound extends BadRequest {
  override readonly statusCode = 404;
}

/** What is there stands against the request. */
export class Conflict extends BadRequest {
  override readonly statusCode = 409;
}

/** What the caller wants to replace is not what is there now (RFC 9110 §15.5.13). */
export class PreconditionFailed extends BadRequest {
  override readonly statusCode = 412;
}

/** The request came to a host that this is not (RFC 9110 §15.5.20). */
export class Misdirected extends BadRequest {
  override readonly statusCode = 421;
}

/** The caller must say what it wants to replace (RFC 6585 §3). */
export class PreconditionRequired extends BadRequest {
  override readonly statusCode = 428;
}

/** There is no room for the request at present. */
export class Unavailable extends BadRequest {
  override readonly statusCode: number = 503;
  readonly retryAfter: number;

  /** @param retryAfter seconds */
  constructor(message: string, retryAfter: number) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** The caller asks too often (RFC 6585 §4). */
export class TooManyRequests extends Unavailable {
  override readonly statusCode = 429;
}
