// Arguments of the project manager's tools that the manager checks itself. Section 11 gives some mistakes a code of their own in
// the result of the call, and accepts flags that a JSON Schema would refuse. If the schema were checked first, the caller would
// get `bad_request` instead of these codes. The schema still reports every other mistake.

import { isFilled, isRecord, type JsonObject } from "../json/json-value.ts";
import type { PmoToolName } from "./tool-name.ts";

const PROVISION_ACTIONS = ["ensure", "create", "derive"] as const;
export type ProvisionAction = (typeof PROVISION_ACTIONS)[number];

export type MalformedProvision =
  | "invalid_action"
  | "missing_agent_id"
  | "missing_derived_from"
  | "invalid_tags"
  | "invalid_metadata";

const isTags = (value: unknown): boolean => Array.isArray(value) && value.every(isFilled);

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** What 11.5 calls the first thing that is wrong with the form of provision_agent's arguments. */
export const malformedProvision = (args: JsonObject): MalformedProvision | undefined => {
  if (!PROVISION_ACTIONS.includes(args.action as ProvisionAction)) return "invalid_action";
  if (!isFilled(args.agent_id)) return "missing_agent_id";
  if (args.action === "derive" && !isFilled(args.derived_from)) return "missing_derived_from";
  if (isGiven(args.tags) && !isTags(args.tags)) return "invalid_tags";
  return isGiven(args.metadata) && !isRecord(args.metadata) ? "invalid_metadata" : undefined;
};

/** 11.6: fail_fast is bool-like; the manager reads it, and refuses what it cannot read. */
const isFlagInWords = ({ fail_fast: flag }: JsonObject): boolean => flag !== undefined && typeof flag !== "boolean";

const JUDGED: ReadonlyMap<string, (args: JsonObject) => boolean> = new Map([
  ["provision_agent" satisfies PmoToolName, (args: JsonObject) => malformedProvision(args) !== undefined],
  ["fork_join" satisfies PmoToolName, isFlagInWords],
]);

/** These names are reserved, so no definition of a user can be meant. */
export const isJudgedByManager = (toolName: string, args: JsonObject): boolean => JUDGED.get(toolName)?.(args) ?? false;
