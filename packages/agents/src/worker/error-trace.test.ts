import { readFileSync } from "node:fs";
import { ToolplaneError } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { errorTrace } from "./error-trace.ts";

const SECRET = "sk-very-secret";

const caught = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work();
  } catch (error) {
    return error;
  }
};

test.each<[string, () => unknown, object]>([
  [
    "an import that fails is told in the runtime's words",
    () => import(["no-such", "package"].join("-")),
    { code: "ERR_MODULE_NOT_FOUND", message: expect.stringContaining("no-such-package") },
  ],
  [
    "so is a file that is not there",
    () => readFileSync("/no/such/file"),
    { error: "Error", code: "ENOENT", message: expect.stringContaining("/no/such/file") },
  ],
  [
    "a cause is told too",
    () =>
      Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error(SECRET), { code: "EPROTO" }) })),
    { error: "TypeError", cause: expect.objectContaining({ error: "Error", code: "EPROTO" }) },
  ],
  [
    "one of ours has a code",
    () => Promise.reject(new ToolplaneError("tool_timeout", SECRET)),
    { error: "tool_timeout" },
  ],
  ["what is not an error has a type", () => Promise.reject(SECRET), { error: "string" }],
])("%s", async (_what, work, expected) => {
  const told = errorTrace(await caught(work));
  expect(told).toMatchObject(expected);
  expect(JSON.stringify(told)).not.toContain(SECRET);
});

test.each<[string, () => unknown]>([
  ["an error of somebody's own", () => Promise.reject(new Error(SECRET))],
  ["a code of another shape", () => Promise.reject(Object.assign(new Error(SECRET), { code: SECRET }))],
  ["a text that is not JSON", () => JSON.parse(SECRET)],
  ["an address that is none", () => new URL(SECRET)],
])("%s: its name and frames are told, its words are not", async (_what, work) => {
  const told = errorTrace(await caught(work));
  expect(told.at?.length).toBeGreaterThan(0);
  expect(JSON.stringify({ ...told, at: [] })).not.toContain(SECRET);
});
