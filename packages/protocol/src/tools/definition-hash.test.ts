import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../json/json-value.ts";
import type { ToolDefinition } from "./definition.ts";
import { definitionHash, definitionText, diffDefinitions, HASHED_FIELDS } from "./definition-hash.ts";
import { parseToolDefinition } from "./parse-definition.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const parse = (input: unknown): ToolDefinition =>
  parseToolDefinition(input, { projectId: "p1", version: "v1r4", compileSchema: () => () => [] });

const upload = {
  tool_name: "count_words",
  description: "Counts.",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.run",
  after_execution: "suspend",
  options: { timeout_seconds: 5 },
};
const definition = parse(upload);

const shuffle = (value: JsonValue, order: (keys: string[]) => string[]): JsonValue => {
  if (Array.isArray(value)) return value.map((item) => shuffle(item, order));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    order(Object.keys(value)).map((key) => [key, shuffle((value as Record<string, JsonValue>)[key] ?? null, order)]),
  );
};

describe("definitionHash", () => {
  test("[SEC-10-R5] it covers name, description, parameters, options, target_subject and after_execution", () => {
    const changes: Record<keyof ToolDefinition, unknown> = {
      tool_name: "other",
      description: "Counts!",
      parameters: { type: "object" },
      options: { timeout_seconds: 6 },
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.other",
      after_execution: "terminate",
    };
    expect([...HASHED_FIELDS].sort()).toEqual(Object.keys(changes).sort());
    for (const [field, value] of Object.entries(changes)) {
      const changed = parse({ ...upload, [field]: value });
      expect(definitionHash(changed, sha256)).not.toBe(definitionHash(definition, sha256));
      expect(diffDefinitions(definition, changed)).toEqual([field]);
    }
  });

  test("it is the SHA-256 of the canonical text, so any language can check it", () => {
    expect(definitionText(definition)).toBe(
      '{"after_execution":"suspend","description":"Counts.","options":{"timeout_seconds":5},' +
        '"parameters":{"properties":{"text":{"type":"string"}},"type":"object"},' +
        '"target_subject":"cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.run","tool_name":"count_words"}',
    );
    expect(definitionHash(definition, sha256)).toBe(sha256(definitionText(definition)));
  });

  test("aliases, absent parts and their empty values are one definition", () => {
    const { tool_name, target_subject, after_execution } = upload;
    const bare = parse({ tool_name, target_subject, after_execution, options: { timeout_seconds: 3 } });
    const spelled = parse({
      name: ` ${tool_name} `,
      target_subject,
      after_execution,
      description: "",
      parameters: {},
      options: { suspend_timeout_seconds: 3 },
    });
    expect(definitionHash(bare, sha256)).toBe(definitionHash(spelled, sha256));
  });

  test("what a row carries besides the definition does not count", () => {
    const row = { ...definition, project_id: "p1", version: 7 };
    expect(definitionHash(row, sha256)).toBe(definitionHash(definition, sha256));
  });

  test("[SEC-10-R5] the order of keys does not count, at any depth", () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(json, json, fc.infiniteStream(fc.nat()), (properties, fixed, numbers) => {
        const base = {
          ...upload,
          parameters: { type: "object", "x-data": { default: properties } },
          options: { jina: { fixed } },
        };
        const random = (keys: string[]): string[] =>
          keys
            .map((key) => [numbers.next().value as number, key] as const)
            .sort(([a], [b]) => a - b)
            .map(([, key]) => key);
        const shuffled = shuffle(base as unknown as JsonValue, random);
        expect(definitionHash(parse(shuffled), sha256)).toBe(definitionHash(parse(base), sha256));
        expect(definitionHash(shuffled as unknown as ToolDefinition, sha256)).toBe(
          definitionHash(base as unknown as ToolDefinition, sha256),
        );
      }),
    );
  });
});
