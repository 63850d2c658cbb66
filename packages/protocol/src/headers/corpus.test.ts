// The corpus under fixtures/v1r4: the same files an implementation in another language can be held against.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { familyOf } from "../../test/subject-family.ts";
import type { CGContext } from "../context/context.ts";
import { formatSubject, parseSubject, tryParseSubject } from "../subjects/subject.ts";
import { ensureTraceparent, parseTraceId, parseTraceparent } from "../trace/traceparent.ts";
import { normalizeHeaders, type RawHeaders } from "./header-map.ts";
import { headersFromHttp } from "./http-headers.ts";
import { ingress } from "./ingress.ts";
import { type InboxRow, replay } from "./replay.ts";

interface Fixture {
  readonly kind: string;
  readonly valid: readonly { readonly name: string; readonly input: unknown; readonly output: unknown }[];
  readonly invalid: readonly { readonly name: string; readonly input: unknown; readonly code: string }[];
}

/** The corpus never needs a made-up trace: every message in it brings one. */
const ids = {
  traceId: () => expect.unreachable("a trace id was made up"),
  spanId: () => expect.unreachable("a span id was made up"),
};

const record = (input: unknown) => input as Readonly<Record<string, unknown>>;

const readSubject = (input: unknown) => {
  const subject = parseSubject(input);
  expect(formatSubject(subject)).toBe(input);
  const { version, projectId, channelId, category, component, target, suffix } = subject;
  const family = familyOf(subject) ?? null;
  return { version, project_id: projectId, channel_id: channelId, category, component, target, suffix, family };
};

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The fields of a context under their wire names; its headers have fixtures of their own. */
const fieldsOf = ({ headers: _, ...fields }: CGContext) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [snake(name), value]));

const readMessage = (input: unknown) => {
  const { subject, headers, payload } = record(input);
  const entered = ingress({ subject: tryParseSubject(subject), headers: headers as RawHeaders, payload }, ids);
  return { context: fieldsOf(entered.context), payload: entered.payload };
};

const camel = (name: string) => name.replaceAll(/_[a-z]/g, (pair) => pair.slice(1).toUpperCase());

const readRow = (input: unknown) => {
  const row = Object.fromEntries(Object.entries(record(input)).map(([name, value]) => [camel(name), value]));
  const replayed = replay(row as unknown as InboxRow, ids);
  return { context: fieldsOf(replayed.context), payload: replayed.payload };
};

const READERS: Readonly<Record<string, (input: unknown) => unknown>> = {
  subject: readSubject,
  traceparent: (input) => {
    parseTraceparent(input);
    return ensureTraceparent(String(input), null, ids);
  },
  "trace-id": (input) => parseTraceId(input),
  "bus-headers": (input) => normalizeHeaders(input as RawHeaders),
  "http-headers": (input) => headersFromHttp(input as RawHeaders),
  ingress: readMessage,
  replay: readRow,
};

const ROOT = new URL("../../fixtures/v1r4/", import.meta.url);

/** The folder, and how many files it holds at least: an empty folder must not pass for a proven one. */
const FOLDERS = [
  ["subject", 14],
  ["headers", 4],
  ["ingress", 12],
  ["replay", 6],
] as const;

describe.each(FOLDERS)("fixtures/v1r4/%s", (folder, least) => {
  const files = readdirSync(new URL(`${folder}/`, ROOT)).filter((name) => name.endsWith(".json"));

  test("is there", () => {
    expect(files.length).toBeGreaterThanOrEqual(least);
  });

  describe.each(files)("%s", (file) => {
    const fixture = JSON.parse(readFileSync(new URL(`${folder}/${file}`, ROOT), "utf8")) as Fixture;
    const read = READERS[fixture.kind];

    test("names a kind this test can read, and has cases", () => {
      expect(read).toBeTypeOf("function");
      expect(fixture.valid.length + fixture.invalid.length).toBeGreaterThan(0);
    });

    for (const { name, input, output } of fixture.valid) {
      test(`valid: ${name}`, () => {
        expect(read?.(input)).toEqual(output);
      });
    }

    for (const { name, input, code } of fixture.invalid) {
      test(`invalid: ${name}`, () => {
        expect(() => read?.(input)).toThrow(expect.objectContaining({ code }));
      });
    }
  });
});
