// Stands for a value that came as JSON and cannot be kept. It is passed on in the value's place, so that the part that decides about
// the value says why: whoever writes it as JSON gets its error.

import { ToolplaneError } from "../errors/toolplane-error.ts";

export class UnreadableJson {
  readonly error: ToolplaneError;
  constructor(error: ToolplaneError) {
    this.error = error;
  }

  toJSON(): never {
    const { code, message, detail } = this.error;
    throw new ToolplaneError(code === "payload_too_large" ? "result_too_large" : "result_not_serializable", message, {
      detail,
    });
  }
}
