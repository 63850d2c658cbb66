// Cards as readers get them: a parameter that the views of a call hide from every reader is hidden in the call's card too, and in the
// thought in which a model asked for the call. A thought names no version of a tool, so there the current definition counts.

import type { Engine } from "@toolplane/engine";
import { type Card, isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { HIDDEN, hiddenParameters, parametersOf } from "../calls/shown-arguments.ts";

const versionKey = ({ content, metadata }: Card): string | undefined =>
  content.__type__ === "ToolCallContent" && typeof metadata.tool_version === "number"
    ? JSON.stringify([content.tool_name, metadata.tool_version])
    : undefined;

const askedTool = (call: JsonObject): string | undefined =>
  isRecord(call.function) && typeof call.function.name === "string" ? call.function.name : undefined;

const distinct = (keys: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(keys.filter((key) => key !== undefined)),
];

const readVersions = async (engine: Pick<Engine, "definitions">, projectId: string, keys: readonly string[]) => {
  const read = keys.map(async (key) => {
    const [toolName, toolVersion] = JSON.parse(key) as [string, number];
    return [key, await parametersOf(engine, { projectId, toolName, toolVersion })] as const;
  });
  return new Map(await Promise.all(read));
};

const readCurrent = async (engine: Pick<Engine, "definitions">, projectId: string, names: readonly string[]) => {
  if (names.length === 0) return new Map<string, unknown>();
  const found = await engine.definitions.resolve(names.map((toolName) => ({ projectId, toolName })));
  return new Map(names.map((name, index) => [name, found[index]?.definition.parameters as unknown]));
};

const hideMembers = (args: JsonObject, hidden: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, hidden.has(name) ? HIDDEN : value]),
  ) as JsonObject;

/** What a model wrote is a text, and not always an object: then all of it is hidden. */
const hideInText = (said: JsonValue | undefined, hidden: ReadonlySet<string>): string => {
  try {
    const args: unknown = JSON.parse(String(said));
    return isRecord(args) ? JSON.stringify(hideMembers(args as JsonObject, hidden)) : HIDDEN;
  } catch {
    return HIDDEN;
  }
};

const hideAsked = (call: JsonObject, current: ReadonlyMap<string, unknown>): JsonObject => {
  const hidden = hiddenParameters(current.get(askedTool(call) ?? ""));
  if (hidden.size === 0) return call;
  const asked = call.function as JsonObject;
  return { ...call, function: { ...asked, arguments: hideInText(asked.arguments, hidden) } };
};

export const showCards = async (
  engine: Pick<Engine, "definitions">,
  projectId: string,
  cards: readonly Card[],
): Promise<readonly Card[]> => {
  const asked = cards.flatMap(({ tool_calls }) => tool_calls ?? []);
  const [versions, current] = await Promise.all([
    readVersions(engine, projectId, distinct(cards.map(versionKey))),
    readCurrent(engine, projectId, distinct(asked.map(askedTool))),
  ]);
  return cards.map((card) => {
    const { content, tool_calls } = card;
    if (content.__type__ === "ToolCallContent") {
      const hidden = hiddenParameters(versions.get(versionKey(card) ?? ""));
      return hidden.size === 0
        ? card
        : { ...card, content: { ...content, arguments: hideMembers(content.arguments, hidden) } };
    }
    return tool_calls === null ? card : { ...card, tool_calls: tool_calls.map((call) => hideAsked(call, current)) };
  });
};
