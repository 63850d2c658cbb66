// The parts of the reference pages that are made from the tables of the code: routes, commands, keys of the configuration. Pure.

import { isRecord } from "@toolplane/protocol";
import type { z } from "zod";
import type { Command } from "../cli/command.ts";
import { usageOf } from "../cli/help.ts";
import type { Described } from "../openapi/document.ts";
import { tagOf } from "../openapi/document.ts";
import { createSchemaWriter, type JsonSchema } from "../openapi/json-schema.ts";
import { templateOf } from "../openapi/path-params.ts";
import { shapeText } from "../openapi/shape-text.ts";

/** A bar would end the cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|");

const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;

const fieldsOf = (query: z.ZodType | undefined): string => {
  if (query === undefined) return "";
  const { properties } = createSchemaWriter().write(query, "request");
  const names = Object.keys(isRecord(properties) ? properties : {});
  return names.map((name) => `\`${name}\``).join(", ");
};

const routeRow = (route: Described): string => {
  const statuses = Object.keys(route.answers).join(", ");
  const roles = route.roles === undefined ? "public" : route.roles.join(", ");
  return row(`\`${route.method} ${templateOf(route.path)}\``, route.summary, fieldsOf(route.query), roles, statuses);
};

export const routesMarkdown = (routes: readonly Described[]): string =>
  [...Map.groupBy(routes, ({ path }) => tagOf(path))]
    .map(([tag, group]) =>
      [
        `### ${tag}`,
        "",
        "| route | what | query | roles | answers |",
        "|---|---|---|---|---|",
        ...group.map(routeRow),
      ].join("\n"),
    )
    .join("\n\n");

export const commandsMarkdown = (commands: readonly Command[]): string =>
  [
    "| command | what |",
    "|---|---|",
    ...commands.map((command) => row(`\`${usageOf(command)}\``, command.summary)),
  ].join("\n");

const keysOf = (schema: JsonSchema, prefix: string): readonly string[] => {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return Object.entries(properties).flatMap(([name, given]) => {
    const inner = isRecord(given) ? given : {};
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const item = inner.type === "array" && isRecord(inner.items) ? inner.items : undefined;
    const below = item === undefined ? keysOf(inner, path) : keysOf(item, `${path}[]`);
    return below.length > 0 ? below : [row(`\`${path}\``, `\`${shapeText(inner)}\``)];
  });
};

export const configMarkdown = (schema: z.ZodType): string =>
  ["| key | value |", "|---|---|", ...keysOf(createSchemaWriter().write(schema, "request"), "")].join("\n");
