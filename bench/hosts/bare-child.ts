// The bare echo's child: parses each line, answers with a stringified response, writes once per chunk it read. It checks
// nothing, runs no plugin and respects no backpressure: the floor that a host is measured against.

import type { Readable, Writable } from "node:stream";
import { createSplitter } from "./splitter.ts";

interface Line {
  readonly id: string;
  readonly params: { readonly arguments: unknown; readonly state: unknown };
}

const echo = (text: string): string => {
  const { id, params } = JSON.parse(text) as Line;
  const value = { success: true, result: params.arguments };
  return `${JSON.stringify({ v: 1, id, ok: true, result: { value, state: params.state } })}\n`;
};

const serve = (input: Readable, output: Writable): void => {
  const split = createSplitter();
  input.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = split(chunk);
    if (lines.length > 0) output.write(lines.map(echo).join(""));
  });
};

serve(process.stdin, process.stdout);
