// What a person hands over: a file by its path, or stdin as `-`.

import { resolve } from "node:path";
import type { CliIo } from "./io.ts";
import { WrongUsage } from "./wrong-usage.ts";

const reasonOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (code === "ENOENT") return "it does not exist";
  if (code === "EISDIR") return "it is a directory";
  if (code === "EACCES") return "access is refused";
  return typeof code === "string" ? code : "it cannot be read";
};

export const readInput = async (io: CliIo, path: string): Promise<string> => {
  if (path === "-") return io.readStdin();
  try {
    return await io.readFile(resolve(io.cwd, path));
  } catch (error) {
    throw new WrongUsage(`cannot read ${path}: ${reasonOf(error)}`);
  }
};
