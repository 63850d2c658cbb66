// Writes the error reference from the table, so that the page and the code cannot differ.

import { ERROR_CODES, ERROR_TABLE, type RetryAdvice } from "./error-table.ts";

const ADVICE: Readonly<Record<RetryAdvice, string>> = {
  never: "no",
  later: "yes, with backoff",
  unsafe: "only a tool that is safe to run twice",
};

const cell = (text: string): string => text.replaceAll("|", "\\|");

const row = (code: (typeof ERROR_CODES)[number]): string => {
  const { http, retry, meaning } = ERROR_TABLE[code];
  return `| \`${code}\` | ${http} | ${ADVICE[retry]} | ${cell(meaning)} |`;
};

/** The whole page; `scripts/docs-errors.ts` writes it. */
export const errorReferenceMarkdown = (): string =>
  [
    "# Errors",
    "",
    "<!-- Written by scripts/docs-errors.ts from the error table. Do not edit. -->",
    "",
    "Programs branch on `code`; the message is for people and may change. Over HTTP an error is",
    '`{"error": {"code", "message", "detail"?, "retryable"}}` with the status below. In a `tool.result` card it is',
    "`content.error` with `code`, `message` and, where known, `source`, `detail`, `retryable` and `http_status`.",
    "A tool may use codes of its own; those are carried unchanged.",
    "",
    "| code | HTTP | same request again? | meaning |",
    "|---|---|---|---|",
    ...ERROR_CODES.map(row),
    "",
    '"Only a tool that is safe to run twice" means that something may already have happened: a call of a tool declared',
    "`retry: safe` is tried again, any other is not.",
    "",
  ].join("\n");
