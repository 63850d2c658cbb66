// Stands for a value that came as JSON and cannot be kept. The door passes it on in the value's place. The settlement writes every
// result as JSON, gets the error from `toJSON`, and settles the call as failed with it.

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
