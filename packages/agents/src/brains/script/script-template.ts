// Values in a script: "{{results.count_words.words}}". A text that is one template gives the value itself, with its type; a
// template inside a text gives its text. `{{path ?? other words}}` says what to write when there is no value.

import { isRecord, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";

const OPEN = "{{";
const CLOSE = "}}";
const ELSE = "??";

/** What a path may begin with. */
export const TEMPLATE_ROOTS = ["instruction", "step", "agent_id", "results", "all"] as const;

export type TemplateScope = Readonly<Record<(typeof TEMPLATE_ROOTS)[number], JsonValue>>;

interface Piece {
  readonly text: string;
  readonly path?: readonly string[] | undefined;
  readonly fallback?: string | undefined;
}

const readExpression = (source: string): Piece => {
  const at = source.indexOf(ELSE);
  const path = (at < 0 ? source : source.slice(0, at)).trim().split(".");
  return { text: source.trim(), path, fallback: at < 0 ? undefined : source.slice(at + ELSE.length).trim() };
};

const readPieces = (text: string): readonly Piece[] => {
  const pieces: Piece[] = [];
  let from = 0;
  for (let at = text.indexOf(OPEN); at >= 0; at = text.indexOf(OPEN, from)) {
    const end = text.indexOf(CLOSE, at);
    if (end < 0) break;
    if (at > from) pieces.push({ text: text.slice(from, at) });
    pieces.push(readExpression(text.slice(at + OPEN.length, end)));
    from = end + CLOSE.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
};

/** What is wrong with the templates of a text, before it is ever used. */
export const findTemplateFault = (text: string): string | undefined => {
  for (const { path } of readPieces(text)) {
    if (path === undefined) continue;
    if (path.some((part) => part === "")) return `{{${path.join(".")}}} has an empty part`;
    if (!(TEMPLATE_ROOTS as readonly string[]).includes(path[0] ?? "")) {
      return `{{${path[0]}}} is unknown; a value begins with ${TEMPLATE_ROOTS.join(", ")}`;
    }
  }
  return undefined;
};

const step = (value: JsonValue | undefined, part: string): JsonValue | undefined => {
  if (Array.isArray(value)) return value[Number(part)] as JsonValue | undefined;
  if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined;
  return (value as JsonObject)[part];
};

const asText = (value: JsonValue): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A failed call has only an `error`, so a script that reads its output finds no value. Then the message names that error. */
const whyMissing = ([root, name = ""]: readonly string[], scope: TemplateScope): string => {
  const result = root === "results" ? step(scope.results, name) : undefined;
  const error = step(result, "error");
  if (error === undefined) return "";
  const [code, message] = [step(error, "code"), step(error, "message")];
  const words = [code, message].filter((part) => typeof part === "string");
  return `: ${name} failed with ${words.length > 0 ? words.join(": ") : asText(error)}`;
};

const lookUp = (piece: Piece, scope: TemplateScope): JsonValue => {
  const value = piece.path?.reduce<JsonValue | undefined>(step, scope);
  if (value !== undefined) return value;
  if (piece.fallback !== undefined) return piece.fallback;
  throw new ToolplaneError("bad_request", `{{${piece.text}}} has no value here${whyMissing(piece.path ?? [], scope)}`);
};

const renderText = (text: string, scope: TemplateScope): JsonValue => {
  const pieces = readPieces(text);
  const [only] = pieces;
  if (pieces.length === 1 && only?.path !== undefined) return lookUp(only, scope);
  return pieces.map((piece) => (piece.path === undefined ? piece.text : asText(lookUp(piece, scope)))).join("");
};

export const renderScriptText = (text: string, scope: TemplateScope): string => asText(renderText(text, scope));

/** The value with every template in it filled in. */
export const renderScriptValue = (value: JsonValue, scope: TemplateScope): JsonValue => {
  if (typeof value === "string") return renderText(value, scope);
  if (Array.isArray(value)) return value.map((item: JsonValue) => renderScriptValue(item, scope));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [key, renderScriptValue(item, scope)]),
  );
};
