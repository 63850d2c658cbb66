// Every rule of `host check`: a host that keeps them all passes, and for every rule there is one that breaks it alone.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { HOST_CLAUSES } from "@toolplane/server/internal";
import { describe, expect, test } from "vitest";
import { WRONG_HOSTS } from "./check-programs/wrong-hosts.ts";
import { failedIn, report } from "./check-run.ts";

const HOST = fileURLToPath(new URL("./check-programs/wrong-host.mjs", import.meta.url));
const commandOf = (wrong: string): readonly string[] => ["node", HOST, wrong];

test("[API-2-10] a host that keeps the rules passes every one", async () => {
  const { code, report: said } = await report({ command: commandOf("none") });
  expect(said.clauses.filter(({ verdict }) => verdict !== "pass")).toEqual([]);
  expect(said.clauses.map(({ id }) => id)).toEqual(HOST_CLAUSES.map(({ id }) => id));
  expect(code).toBe(0);
});

describe.concurrent("[API-2-10] [DOOR-1-7] [DOOR-2-9] [DOOR-3-5] a host that breaks one rule fails that one", () => {
  test.each(WRONG_HOSTS)("%s fails %s", async (wrong, clause) => {
    const { code, report: said } = await report({ command: commandOf(wrong) });
    const others = failedIn(said).filter((id) => id !== clause);
    expect({ wrong, others, failed: failedIn(said).includes(clause) }).toEqual({ wrong, others: [], failed: true });
    expect(code).toBe(1);
  });
});

test("[API-2-10] every rule is broken by one of them", () => {
  expect([...new Set(WRONG_HOSTS.map(([, id]) => id))]).toEqual(HOST_CLAUSES.map(({ id }) => id));
});

test("[DOOR-1-7] [DOOR-2-9] [DOOR-3-5] the rules that carry a clause of the tool protocol name it, in the report and the reference", async () => {
  const page = readFileSync(new URL("../../docs/reference/host-check.md", import.meta.url), "utf8");
  const { report: said } = await report({ command: commandOf("none") });
  const named = HOST_CLAUSES.flatMap((clause) => ("utp" in clause ? [[clause.id, clause.utp] as const] : []));
  expect(named.map(([id]) => id)).toEqual(
    expect.arrayContaining(["HOST-C03", "HOST-C30", "HOST-C31", "HOST-C32", "HOST-C33"]),
  );
  for (const [id, utp] of named) {
    expect(said.clauses.find((one) => one.id === id)).toMatchObject({ utp });
    const row = page.split("\n").find((line) => line.startsWith(`| ${id} `));
    expect(row?.trimEnd().endsWith(`| ${utp} |`), id).toBe(true);
  }
});

test("[API-2-10] the reference lists every rule as the check names it", () => {
  const page = readFileSync(new URL("../../docs/reference/host-check.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| HOST-"));
  const shown = rows.map((row) => row.split(" | ").slice(0, 3).join(" | "));
  expect(shown).toEqual(HOST_CLAUSES.map(({ id, title, section }) => `| ${id} | ${title} | ${section}`));
});
