// docs/reference/nats-gateway.md as data: its rows of operations, and its conversation.

import { readFileSync } from "node:fs";
import { expect } from "vitest";

const page = readFileSync(new URL("../../docs/reference/nats-gateway.md", import.meta.url), "utf8");

export interface Exchange {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  readonly answer: unknown;
}

const after = (lines: readonly string[], mark: string): string[] =>
  lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));

const parseExchange = (text: string): Exchange => {
  const lines = text.split("\n");
  const [subject = "", ...sent] = after(lines, "> ");
  const [status = "", answer = ""] = after(lines, "< ");
  return {
    subject,
    headers: Object.fromEntries(sent.slice(0, -1).map((line) => line.split(": ") as [string, string])),
    body: sent.at(-1) ?? "",
    status: Number(status.slice("CG-Status: ".length)),
    answer: JSON.parse(answer),
  };
};

export const conversation = (): readonly Exchange[] => {
  const block = page.slice(page.lastIndexOf("```text\n") + "```text\n".length, page.lastIndexOf("\n```"));
  return block.split("\n\n").map(parseExchange);
};

/** What the page leaves open matches anything of its kind. */
export const pattern = (value: unknown): unknown => {
  if (value === "..." || value === "{lease}" || value === "{call}") return expect.any(String);
  if (Array.isArray(value)) return value.map(pattern);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, pattern(inner)] as const);
  return entries.length === 0 ? expect.any(Object) : Object.fromEntries(entries);
};

export const operationRows = (): readonly (string | undefined)[] => {
  const table = page.slice(page.indexOf("## Operations"), page.indexOf("## Errors"));
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => row.split("`")[1]);
};
