// The guide lists the clauses as they are, and what it says about the command is true.

import { readFileSync } from "node:fs";
import { CLAUSES } from "@toolplane/server/internal";
import { expect, test } from "vitest";

const guide = readFileSync(new URL("../../docs/guides/conformance.md", import.meta.url), "utf8");

/** `| \`UTP-C01\` | title | section | what is done |` */
const rows = guide
  .split("\n")
  .filter((line) => line.startsWith("| `UTP-C"))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, id, title, section]) => ({ id: id?.slice(1, -1), title, section }));

test("[API-conform-guide] every clause is in the guide, with its title and section, and no other", () => {
  expect(rows).toEqual(CLAUSES.map(({ id, title, section }) => ({ id, title, section })));
});

test("[API-conform-guide] every flag of the command is explained", async () => {
  const command = readFileSync(new URL("../../packages/server/src/cli/commands/conform.ts", import.meta.url), "utf8");
  const options = /options: \[([^\]]+)\]/.exec(command)?.[1] ?? "";
  const flags = [...options.matchAll(/"([a-z-]+)"/g)].map(([, flag]) => `--${flag}`);
  expect(flags.length).toBeGreaterThan(4);
  expect(flags.filter((flag) => !guide.includes(flag))).toEqual([]);
});
