// Every statement the engine prepares, read from its own modules: one that is added tomorrow is checked tomorrow.

import { readdirSync } from "node:fs";
import type { Statement } from "@toolplane/engine/internal";

const SOURCES = new URL("../../packages/engine/src/", import.meta.url);

const isStatement = (value: unknown): value is Statement =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  "text" in value &&
  typeof value.name === "string" &&
  typeof value.text === "string";

export interface FoundStatement extends Statement {
  /** The file it is in, from the engine's sources on. */
  readonly file: string;
}

/** Exported ones, and those in exported lists. */
export const collectStatements = async (): Promise<readonly FoundStatement[]> => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".sql.ts"))
    .sort();
  const found: FoundStatement[] = [];
  for (const file of files) {
    const exported: Readonly<Record<string, unknown>> = await import(new URL(file, SOURCES).href);
    for (const value of Object.values(exported).flat()) if (isStatement(value)) found.push({ ...value, file });
  }
  return found;
};
