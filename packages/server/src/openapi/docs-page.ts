// The reference for a browser, made from the document: one page without scripts and without requests to other places.

import { createHash } from "node:crypto";
import type { OpenApiDocument, Operation } from "./document.ts";
import type { JsonSchema } from "./json-schema.ts";
import { shapeText } from "./shape-text.ts";

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1b1f24; background: #fff }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dae1 }
details { margin: .4rem 0; border: 1px solid #d5dae1; border-radius: 6px; padding: .4rem .8rem }
summary { cursor: pointer }
code, pre { font: 14px/1.45 ui-monospace, monospace }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f6f8; padding: .6rem; border-radius: 4px }
td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0 }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600 }
.what { color: #4c5563; display: block }
@media (prefers-color-scheme: dark) {
  body { color: #e6e9ed; background: #15181c } pre { background: #1f242a } h2, details { border-color: #363d46 }
  .what { color: #a9b2bd } a { color: #8ab4f8 }
}
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** Nothing is loaded, nothing runs, and no other page may frame it. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => ESCAPES[char] ?? char);

/** Text with `code` in it. */
const prose = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");

type Names = ReadonlySet<string>;

/** The shape, with the names of components as links. */
const shape = (schema: unknown, names: Names): string =>
  escapeHtml(shapeText(schema)).replaceAll(/\b[A-Z][A-Za-z]+\b/g, (name) =>
    names.has(name) ? `<a href="#schema-${name}">${name}</a>` : name,
  );

const parameters = ({ parameters: given }: Operation, names: Names): string =>
  given.length === 0
    ? ""
    : `<table>${given
        .map(
          ({ name, in: place, description = "", required, schema }) =>
            `<tr><td><code>${escapeHtml(name)}</code></td><td>${place}${required ? "" : ", optional"}</td><td><code>${shape(schema, names)}</code></td><td>${prose(description)}</td></tr>`,
        )
        .join("")}</table>`;

type Media = Readonly<Record<string, { readonly schema: JsonSchema }>>;

const content = (media: Media | undefined, names: Names): string =>
  Object.entries(media ?? {})
    .map(([type, { schema }]) => `<p>${escapeHtml(type)}</p><pre>${shape(schema, names)}</pre>`)
    .join("");

const operation = (path: string, method: string, given: Operation, names: Names): string => {
  const roles = given["x-roles"].length === 0 ? "everybody, without a token" : given["x-roles"].join(", ");
  const request = given.requestBody === undefined ? "" : `<h4>Body</h4>${content(given.requestBody.content, names)}`;
  const answers = Object.entries(given.responses)
    .filter(([status]) => status !== "default")
    .map(([status, answer]) => `<h4>${status}</h4>${content("content" in answer ? answer.content : undefined, names)}`);
  return `<details id="${escapeHtml(given.operationId)}"><summary><span class="method">${method.toUpperCase()}</span><code>${escapeHtml(path)}</code><span class="what">${prose(given.summary)}</span></summary><p>For: ${escapeHtml(roles)}</p>${parameters(given, names)}${request}${answers.join("")}</details>`;
};

export const docsPage = ({ info, paths, components }: OpenApiDocument): string => {
  const names: Names = new Set(Object.keys(components.schemas));
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, given]) => ({ path, method, given })),
  );
  const byTag = [...Map.groupBy(all, ({ given }) => given.tags[0] ?? "")];
  const parts = byTag.map(
    ([tag, group]) =>
      `<h2 id="${escapeHtml(tag)}">${escapeHtml(tag)}</h2>${group.map(({ path, method, given }) => operation(path, method, given, names)).join("")}`,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<h3 id="schema-${escapeHtml(name)}">${escapeHtml(name)}</h3><pre>${shape(schema, names)}</pre>`,
  );
  const links = byTag.map(([tag]) => `<a href="#${escapeHtml(tag)}">${escapeHtml(tag)}</a>`).join(" ");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(info.title)} API</title><style>${STYLE}</style></head><body><h1>${escapeHtml(info.title)} API ${escapeHtml(info.version)}</h1><p>The same as data: <a href="/openapi.json">/openapi.json</a>. Every refusal is a <a href="#schema-Problem">Problem</a> with the status of its code.</p><p>${links}</p>${parts.join("")}<h2>Shapes</h2>${schemas.join("")}</body></html>`;
};
