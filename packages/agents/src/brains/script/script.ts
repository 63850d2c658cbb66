// A script: the steps of an agent that needs no model. Written in YAML or TypeScript; checked once, when it is read.
//   SCR1. A script has no memory. Which step is next follows from the transcript alone, so any process can go on with it.
//   SCR2. A bad script is refused with the place of the fault; a checked one fails only for values it was not given.

import { type ErrorCode, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import { type ScriptFault, scriptFault, scriptSchema } from "./script-schema.ts";
import type { ScriptView } from "./script-view.ts";

/** In TypeScript a value may be computed from what has happened so far. */
export type Computed<T> = T | ((view: ScriptView) => T);

export interface ScriptCall {
  readonly tool: string;
  /** The name under which the result is found; the tool's when left out. */
  readonly as?: string | undefined;
  /** A text is passed on as it is, as a model's malformed arguments would be. */
  readonly arguments?: Computed<JsonObject | string> | undefined;
  /** The id a provider would give; made by the worker when left out. */
  readonly id?: string | undefined;
}

/** All conditions that are given must hold; `ok` and `failed` are about the newest result of that name. */
export interface ScriptCondition {
  readonly ok?: string | undefined;
  readonly failed?: string | undefined;
  readonly missing?: string | undefined;
}

export interface ScriptStep {
  /** A step whose condition does not hold is skipped. */
  readonly when?: ScriptCondition | ((view: ScriptView) => boolean) | undefined;
  readonly say?: Computed<string> | undefined;
  readonly reasoning?: string | undefined;
  readonly call?: Computed<ScriptCall | readonly ScriptCall[]> | undefined;
  /** Ends the turn with a text. */
  readonly finish?: Computed<string> | undefined;
  /** Ends the turn through `submit_result`. */
  readonly submit?: Computed<JsonValue> | undefined;
  /** The brain fails, as a provider might. */
  readonly fail?: { readonly code: ErrorCode; readonly message?: string | undefined } | undefined;
  /** The brain does not answer until it is stopped. */
  readonly hang?: true | undefined;
  readonly usage?: JsonObject | undefined;
  readonly cost?: number | undefined;
}

export interface ScriptCase {
  /** Parts of the instruction, in any case; one of them must occur. Absent: any instruction. */
  readonly match?: string | readonly string[] | undefined;
  readonly steps: readonly ScriptStep[];
}

export interface ScriptSource {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly steps?: readonly ScriptStep[] | undefined;
  readonly cases?: readonly ScriptCase[] | undefined;
}

export interface Script {
  readonly name: string;
  readonly cases: readonly ScriptCase[];
  /** `file:line` of a step, or its number. */
  readonly place: (caseIndex: number, stepIndex: number) => string;
}

/** Where the value at a path was written, for complaints. */
export type Where = (path: readonly PropertyKey[], key?: string) => string;

/** `name` is what complaints and `script/NAME` call it, unless the script names itself. */
export const parseScript = (input: unknown, name: string, where?: Where): Script => {
  const parsed = scriptSchema.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const fault: ScriptFault = issue === undefined ? { path: [], message: "not a script" } : scriptFault(issue);
    const path = fault.path.map(String).join(".");
    const at = where?.(fault.path, fault.key) ?? `script ${name}${path === "" ? "" : ` at ${path}`}`;
    throw new ToolplaneError("bad_request", `${at}: ${fault.message}`, { detail: { script: name, path } });
  }
  const data = parsed.data as ScriptSource;
  const flat = data.cases === undefined;
  const pathOf = (caseIndex: number, stepIndex: number): PropertyKey[] =>
    flat ? ["steps", stepIndex] : ["cases", caseIndex, "steps", stepIndex];
  return {
    name: data.name ?? name,
    cases: data.cases ?? [{ steps: data.steps ?? [] }],
    place: (caseIndex, stepIndex) =>
      where?.(pathOf(caseIndex, stepIndex)) ?? `script ${data.name ?? name}, step ${stepIndex + 1}`,
  };
};

/** A script written in TypeScript. */
export const defineScript = (script: ScriptSource & { readonly name: string }): Script =>
  parseScript(script, script.name);
