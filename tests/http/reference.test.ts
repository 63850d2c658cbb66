// The page for people and the table of routes say the same.

import { readFileSync } from "node:fs";
import { routes } from "@toolplane/server/internal";
import { expect, test } from "vitest";

const page = readFileSync(new URL("../../docs/reference/http-api.md", import.meta.url), "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("| `"));

/** The last word of a path that is not a parameter: what a reader looks for. */
const lastWord = (path: string): string =>
  path
    .split("/")
    .filter((part) => part !== "" && !part.startsWith(":"))
    .at(-1) ?? "";

test("[API-reference] every route has a row that names its method and its last word", () => {
  const missing = routes.filter(({ method, path }) => {
    const word = lastWord(path);
    return !rows.some((row) => row.includes(method) && (row.includes(`/${word}\``) || row.includes(`/${word}/`)));
  });
  expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});

test("[API-reference-roles] every role of a route is explained", () => {
  const roles = new Set(routes.flatMap((route) => route.roles));
  for (const role of roles) expect(page).toContain(`| \`${role}\` |`);
});
