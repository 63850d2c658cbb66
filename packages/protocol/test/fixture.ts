// A file of fixtures/v1r4: inputs that pass, with what becomes of them, and inputs that are refused, with what is said.

import { readFileSync } from "node:fs";

export interface Fixture {
  readonly valid: readonly { readonly name: string; readonly input: unknown; readonly output?: object }[];
  readonly invalid: readonly {
    readonly name: string;
    readonly input: unknown;
    readonly code: string;
    readonly says?: string;
  }[];
}

export const readFixture = (path: string): Fixture =>
  JSON.parse(readFileSync(new URL(`../fixtures/v1r4/${path}.json`, import.meta.url), "utf8")) as Fixture;
