// What a test asks of code that refuses.

import { ToolplaneError } from "../src/errors/toolplane-error.ts";

export const failure = (run: () => unknown): ToolplaneError => {
  try {
    run();
  } catch (error) {
    if (error instanceof ToolplaneError) return error;
    throw error;
  }
  throw new TypeError("nothing was thrown");
};

export const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ToolplaneError) return error.code;
    throw error;
  }
  return "accepted";
};
