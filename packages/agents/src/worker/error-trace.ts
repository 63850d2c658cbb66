// What an unexpected error was and where it came from, for the log: its name, its code, its frames, and the same of its cause.
// Free text is left out: it may quote a prompt, an argument or a key (I8). The runtime's own messages about files and modules
// are kept, because nothing else says what is missing.

import { isRecord, isToolplaneError } from "@toolplane/protocol";

/** Fields of a log line. */
export type ErrorTrace = {
  readonly error: string;
  readonly code?: string;
  readonly message?: string;
  readonly cause?: ErrorTrace;
  readonly at?: readonly string[];
};

const MAX_FRAMES = 8;
const MAX_CAUSES = 3;
const MAX_WORDS = 300;
const MAX_CODE = 48;

/** For a failed import: the message names files and packages. */
const LOADER_CODES: ReadonlySet<string> = new Set([
  "MODULE_NOT_FOUND",
  "ERR_MODULE_NOT_FOUND",
  "ERR_PACKAGE_PATH_NOT_EXPORTED",
  "ERR_PACKAGE_IMPORT_NOT_DEFINED",
  "ERR_UNSUPPORTED_DIR_IMPORT",
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_INVALID_MODULE_SPECIFIER",
  "ERR_INVALID_PACKAGE_CONFIG",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
]);
/** The error for a missing export has no code of its own. */
const MISSING_EXPORT = "The requested module '";

/** `ECONNREFUSED`, `ERR_MODULE_NOT_FOUND`; a code of another shape may be anything. */
const codeOf = (error: Error): string | undefined => {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === "string" && code.length <= MAX_CODE && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : undefined;
};

const hasOwnWords = (error: Error, code: string | undefined): boolean =>
  code === undefined
    ? error instanceof SyntaxError && error.message.startsWith(MISSING_EXPORT)
    : LOADER_CODES.has(code) || typeof (error as { readonly syscall?: unknown }).syscall === "string";

const trace = (error: unknown, depth: number): ErrorTrace => {
  if (isToolplaneError(error)) return { error: error.code };
  if (!(error instanceof Error)) return { error: typeof error };
  const code = codeOf(error);
  const [words = ""] = error.message.split("\n");
  const frames = (error.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  return {
    error: error.name,
    ...(code === undefined ? {} : { code }),
    ...(hasOwnWords(error, code) ? { message: words.slice(0, MAX_WORDS) } : {}),
    ...(isRecord(error.cause) && depth < MAX_CAUSES ? { cause: trace(error.cause, depth + 1) } : {}),
    at: frames.slice(0, MAX_FRAMES).map((line) => line.trim()),
  };
};

export const errorTrace = (error: unknown): ErrorTrace => trace(error, 0);
