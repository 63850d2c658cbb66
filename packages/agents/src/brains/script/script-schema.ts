// The shape of a script, key by key, and which of zod's errors is shown.

import { isErrorCode, isRecord } from "@toolplane/protocol";
import { isToolName } from "@toolplane/protocol/registry";
import { z } from "zod";
import { findTemplateFault } from "./script-template.ts";
import type { ScriptView } from "./script-view.ts";

/** A turn has at most a few dozen steps; a longer script should be a function brain. */
const MAX_STEPS = 1000;

const isFunction = (value: unknown): boolean => typeof value === "function";
const computed = z.custom<(view: ScriptView) => never>(isFunction);

const checkTemplates = (
  value: unknown,
  path: PropertyKey[],
  found: (path: PropertyKey[], fault: string) => void,
): void => {
  if (typeof value === "string") {
    const fault = findTemplateFault(value);
    if (fault !== undefined) found(path, fault);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkTemplates(item, [...path, index], found);
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) checkTemplates(item, [...path, key], found);
  }
};

const templated = <T extends z.ZodType>(schema: T) =>
  schema.superRefine((value, context) => {
    checkTemplates(value, [], (path, message) => context.addIssue({ code: "custom", path, message }));
  });

const text = templated(z.string());
const resultName = z
  .string()
  .min(1)
  .max(128)
  .refine((name) => !name.includes("."), "a name has no dots");
const json = templated(z.json());
const args = z.union([templated(z.record(z.string(), z.json())), z.string(), computed]);

const callSchema = z.strictObject({
  tool: z.string().refine(isToolName, "1 to 64 of the characters A-Z a-z 0-9 _ -"),
  as: resultName.optional(),
  arguments: args.optional(),
  id: z.string().min(1).max(64).optional(),
});

const stepSchema = z
  .strictObject({
    when: z
      .union([
        z.strictObject({ ok: resultName.optional(), failed: resultName.optional(), missing: resultName.optional() }),
        computed,
      ])
      .optional(),
    say: z.union([text, computed]).optional(),
    reasoning: text.optional(),
    call: z.union([callSchema, z.array(callSchema).min(1), computed]).optional(),
    finish: z.union([text, computed]).optional(),
    submit: z.union([json, computed]).optional(),
    fail: z
      .strictObject({ code: z.string().refine(isErrorCode, "not an error code"), message: z.string().optional() })
      .optional(),
    hang: z.literal(true).optional(),
    usage: z.record(z.string(), z.json()).optional(),
    cost: z.number().nonnegative().optional(),
  })
  .superRefine((step, context) => {
    const acts = (["call", "finish", "submit", "fail", "hang"] as const).filter((key) => step[key] !== undefined);
    if (acts.length > 1)
      context.addIssue({ code: "custom", message: `a step does one thing, not ${acts.join(" and ")}` });
    if (acts.length === 0 && step.say === undefined) {
      context.addIssue({ code: "custom", message: "a step needs one of call, finish, submit, say, fail, hang" });
    }
    if (step.finish !== undefined && step.say !== undefined) {
      context.addIssue({ code: "custom", path: ["say"], message: "finish is what is said last; leave say out" });
    }
  });

const steps = z.array(stepSchema).min(1, "at least one step").max(MAX_STEPS);
const caseSchema = z.strictObject({
  match: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
  steps,
});

export const scriptSchema = z
  .strictObject({
    name: z.string().min(1).max(128).optional(),
    description: z.string().optional(),
    steps: steps.optional(),
    cases: z.array(caseSchema).min(1).max(MAX_STEPS).optional(),
  })
  .refine((script) => (script.steps === undefined) !== (script.cases === undefined), "write either steps or cases");

export interface ScriptFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The key at fault, where the path leads to its map. */
  readonly key?: string | undefined;
}

/** A union reports the errors of every branch; the branch that got furthest is what the author meant. */
export const scriptFault = (issue: z.core.$ZodIssue): ScriptFault => {
  const { path, message } = issue;
  if (issue.code === "unrecognized_keys") return { path, message: `unknown key ${issue.keys[0]}`, key: issue.keys[0] };
  if (issue.code !== "invalid_union") return { path, message };
  const [first, ...others] = issue.errors.flat().map(scriptFault);
  if (first === undefined) return { path, message };
  const best = others.reduce((found, next) => (next.path.length > found.path.length ? next : found), first);
  return { ...best, path: [...path, ...best.path] };
};
