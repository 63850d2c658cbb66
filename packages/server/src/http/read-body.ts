// A request body as text and as JSON; its bytes are bounded where they are read (body-bytes.ts).

import { isToolplaneError, type JsonValue, parseJsonStrict, ToolplaneError } from "@toolplane/protocol";
import { readBytes } from "./body-bytes.ts";

const decode = (bytes: ArrayBuffer | Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ToolplaneError("bad_request", "the body is not UTF-8 text");
  }
};

export const readBody = async (request: Request, maxBytes: number): Promise<string> =>
  decode(await readBytes(request, maxBytes));

/** The JSON of a body; what is wrong with it is said of the body. */
export const parseBody = (text: string): JsonValue => {
  if (text.trim() === "") throw new ToolplaneError("bad_request", "the body is empty: send JSON");
  try {
    return parseJsonStrict(text);
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
    throw new ToolplaneError(error.code, error.message.replace(/^the text is/, "the body is"), {
      detail: error.detail,
    });
  }
};
