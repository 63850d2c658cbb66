// Where an unexpected error came from, for the log. Its message is left out: it may quote a prompt, an argument or a key (I8).

import { isToolplaneError } from "@toolplane/protocol";

const MAX_FRAMES = 8;

export const errorTrace = (error: unknown): { readonly error: string; readonly at?: readonly string[] } => {
  if (isToolplaneError(error)) return { error: error.code };
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = (error.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  return { error: error.name, at: frames.slice(0, MAX_FRAMES).map((line) => line.trim()) };
};
