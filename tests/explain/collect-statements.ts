// Every statement the engine prepares, read from its own modules: one that is added tomorrow is checked tomorrow.

import { readdirSync } from "node:fs";
import {
  type DispatchRow,
  dispatchOfNew,
  type SettleRow,
  type Statement,
  settlementOf,
  writeStatement,
} from "@toolplane/engine/internal";

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

/** Every list has a row, so the statement has every part. */
const ALL_WRITES = new Proxy({}, { get: () => [{}] }) as Parameters<typeof writeStatement>[0];

/** Statements that are chosen or put together by the rows they get. */
const chosenStatements = (): readonly FoundStatement[] => [
  ...(["report", "cancel"] as const)
    .flatMap((mode) => [
      { mode, inboxId: null, sessionState: null },
      { mode, inboxId: "inbox_1", sessionState: null },
    ])
    .map((row) => ({
      ...settlementOf([row as SettleRow], "v1r4")[0],
      file: "calls/settle.sql.ts",
    })),
  ...[null, "lease_1"].map((leaseId) => ({
    ...dispatchOfNew([{ leaseId } as DispatchRow]),
    file: "calls/dispatch.sql.ts",
  })),
  ...[false, true].flatMap((external) => {
    const made = writeStatement(ALL_WRITES, external);
    return made === undefined ? [] : [{ ...made.statement, file: "turns/write-turns.sql.ts" }];
  }),
];

/** Exported ones, those in exported lists, and those that rows choose. */
export const collectStatements = async (): Promise<readonly FoundStatement[]> => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".sql.ts"))
    .sort();
  const found: FoundStatement[] = [...chosenStatements()];
  for (const file of files) {
    const exported: Readonly<Record<string, unknown>> = await import(new URL(file, SOURCES).href);
    for (const value of Object.values(exported).flat()) if (isStatement(value)) found.push({ ...value, file });
  }
  return found;
};
