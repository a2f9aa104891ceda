import { restBytes, u32 } from "../schema/codec.ts";
import {
  EXPERIMENTER_MESSAGE,
  MULTIPART_EXPERIMENTER,
  MULTIPART_REPLY,
  MULTIPART_REQUEST,
  message,
  multipart,
} from "./define.ts";

/** A message of an OFPT type, or a multipart message of an OFPMP type, this codec has no name for, byte for byte. */
export interface UnknownMessage {
  readonly type: "unknown";
  readonly xid: number;
  readonly ofType: number;
  /** Bytes after the header. */
  readonly body: Buffer;
}

const fields = { experimenter: u32, experimenterType: u32, data: restBytes } as const;

/** A message of an experimenter, or of a type of his, this codec has no name for (OF1.3.5 §7.5.5). */
export const experimenter = message(EXPERIMENTER_MESSAGE, "experimenter", "OFPT_EXPERIMENTER", fields);
/** OF1.3.5 §7.3.5.16. */
export const experimenterRequest = multipart(
  MULTIPART_REQUEST,
  MULTIPART_EXPERIMENTER,
  "experimenter_request",
  "OFPST_EXPERIMENTER request",
  fields,
);
export const experimenterReply = multipart(
  MULTIPART_REPLY,
  MULTIPART_EXPERIMENTER,
  "experimenter_reply",
  "OFPST_EXPERIMENTER reply",
  fields,
);
