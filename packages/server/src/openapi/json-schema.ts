// From zod to the JSON Schema of the document. A schema with an id becomes a component and is referred to by its name.
//   Unknown fields: requests refuse them, so their schemas say it. Answers may get more fields later, so a reader must not refuse
//   them, and the schemas of answers leave it open.

import { isRecord, UsageError } from "@toolplane/protocol";
import { z } from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;

export type Direction = "request" | "answer";

export interface SchemaWriter {
  write(schema: z.ZodType, direction: Direction): JsonSchema;
  /** The components so far, by name. */
  components(): Readonly<Record<string, JsonSchema>>;
}

const DEFS = "#/$defs/";
const COMPONENTS = "#/components/schemas/";

const rewrite = (value: unknown, direction: Direction): unknown => {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, direction));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => {
        // `readOnly` only says how zod types its output; an id is the name of the component already.
        if (key === "readOnly" || (key === "id" && typeof member === "string")) return false;
        return !(key === "additionalProperties" && member === false && direction === "answer");
      })
      .map(([key, member]) => [
        key,
        key === "$ref" && typeof member === "string" ? member.replace(DEFS, COMPONENTS) : rewrite(member, direction),
      ]),
  );
};

export const createSchemaWriter = (): SchemaWriter => {
  const components = new Map<string, JsonSchema>();
  return {
    write(schema, direction) {
      // The schema is put into a property: at the top level zod would write out a schema with an id instead of a reference to it.
      const made = z.toJSONSchema(z.object({ it: schema }), {
        target: "draft-2020-12",
        io: direction === "request" ? "input" : "output",
        unrepresentable: "any",
        reused: "inline",
      });
      for (const [name, part] of Object.entries(made.$defs ?? {}))
        components.set(name, rewrite(part, direction) as JsonSchema);
      const it = made.properties?.it;
      if (it === undefined) throw new UsageError("a schema of the API cannot be written down");
      return rewrite(it, direction) as JsonSchema;
    },
    components: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
};
