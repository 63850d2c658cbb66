// The requirements manifest: every normative rule of the specifications, what it comes from, and which part keeps it.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { collectRules } from "./collect.ts";
import type { Rule } from "./rule.ts";

const lists = await collectRules(fileURLToPath(new URL(".", import.meta.url)));

/** Parts whose every rule must be claimed by a test. Add a part when its first slice lands. */
export const BUILT_PARTS: ReadonlySet<string> = new Set(["protocol", "processes", "testkit", "bus", "engine", "sdk", "server", "bridges", "turns", "turn watchdogs", "agents", "pmo", "ui actions", "egress", "http bridge", "security", "mcp", "repo", "console"]);

/** Parts whose rules are listed and wait: those in later/. A part in neither set is a misspelt one. */
export const LATER_PARTS: ReadonlySet<string> = new Set([...lists.filter(({ file }) => dirname(file) === "later").flatMap(({ rules }) => rules.map(({ part }) => part))].filter((part) => !BUILT_PARTS.has(part)));

export const REQUIREMENTS: readonly Rule[] = lists.flatMap(({ rules }) => rules);
