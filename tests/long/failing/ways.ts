// Tools that fail, each in its own way: the same set for a service and for a host in TypeScript.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineTool } from "@toolplane/sdk";

const NONE = { type: "object", properties: {} } as const;

const tool = (name: string, run: () => unknown, more: object = {}) =>
  defineTool({ name, description: `fails: ${name}`, parameters: NONE, run: async () => run(), ...more });

/** Real bugs and real faults of a machine; none of them is written for the plane. */
export const waysToFail = (prefix: string) => [
  tool(`${prefix}throws`, () => JSON.parse("{oops")),
  tool(`${prefix}no_error`, () => {
    throw undefined;
  }),
  tool(`${prefix}late`, () => {
    setTimeout(() => {
      throw new TypeError("the timer fell over");
    }, 50);
    return sleep(60_000);
  }),
  tool(`${prefix}rejects`, () => Promise.reject(new Error("the vault is closed", { cause: new Error("no key") }))),
  tool(`${prefix}too_slow`, () => sleep(60_000), { timeoutSeconds: 1 }),
  tool(`${prefix}bad_result`, () => ({ total: 10n })),
  tool(`${prefix}missing_file`, () => readFileSync("/nope/settings.json", "utf8")),
  tool(`${prefix}refused`, () => fetch("http://127.0.0.1:3/").then((answer) => answer.text())),
  tool(`${prefix}asserts`, () => assert.equal(1, 2, "one is not two")),
  // In a host it is the heap that ends; a service that did this would take its other calls with it.
  tool(`${prefix}hungry`, () => {
    const heap: string[][] = [];
    for (;;) heap.push(Array.from({ length: 100_000 }, (_, index) => `${index}${Math.random()}`));
  }),
  defineTool({
    name: `${prefix}typed`,
    description: "takes a number",
    parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    run: async ({ n }) => ({ n }),
  }),
  tool(`${prefix}waits`, () => sleep(60_000)),
];
