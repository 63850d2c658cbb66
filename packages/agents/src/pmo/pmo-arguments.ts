// The arguments of the project manager's tools, as they come from a card. The engine has checked them against the tools'
// schemas; they are read again here because a definition is only data.

import { isFilled, isRecord, type JsonObject, ToolplaneError } from "@toolplane/protocol";

const TARGET_STRATEGIES = ["new", "reuse", "clone"] as const;
export type TargetStrategy = (typeof TARGET_STRATEGIES)[number];

export interface TaskAsk {
  readonly strategy: TargetStrategy;
  readonly ref: string;
  readonly instruction: string;
  readonly contextBoxId?: string | undefined;
}

export interface ForkJoinAsk {
  readonly tasks: readonly TaskAsk[];
  readonly failFast: boolean;
  /** Undefined when the caller names none. */
  readonly deadlineSeconds: number | undefined;
}

type Refuse = (path: string, reason: string) => ToolplaneError;

const refuseFor =
  (tool: string): Refuse =>
  (path, reason) =>
    new ToolplaneError("bad_request", `${tool}: invalid args.${path}: ${reason}`);

const text = (args: JsonObject, key: string, refuse: Refuse, path = key): string => {
  const value = args[key];
  if (!isFilled(value)) throw refuse(path, "must be a non-empty string");
  return value.trim();
};

/** Names and ids are shorter; a longer text would appear in every sentence about it. */
const MAX_NAME_LENGTH = 255;

const name = (args: JsonObject, key: string, refuse: Refuse, path = key): string => {
  const value = text(args, key, refuse, path);
  if (value.length > MAX_NAME_LENGTH) throw refuse(path, `must have at most ${MAX_NAME_LENGTH} characters`);
  return value;
};

const optionalName = (args: JsonObject, key: string, refuse: Refuse, path = key): string | undefined => {
  const value = args[key];
  if (value === undefined || value === null || value === "") return undefined;
  return name(args, key, refuse, path);
};

const parseTask = (args: JsonObject, refuse: Refuse, at: string): TaskAsk => {
  const strategy = args.target_strategy;
  if (!TARGET_STRATEGIES.includes(strategy as TargetStrategy))
    throw refuse(`${at}target_strategy`, `must be one of ${TARGET_STRATEGIES.join(", ")}`);
  return {
    strategy: strategy as TargetStrategy,
    ref: name(args, "target_ref", refuse, `${at}target_ref`),
    instruction: text(args, "instruction", refuse, `${at}instruction`),
    contextBoxId: optionalName(args, "context_box_id", refuse, `${at}context_box_id`),
  };
};

export const parseDelegate = (args: JsonObject): TaskAsk => parseTask(args, refuseFor("delegate_async"), "");

/** launch_principal is a delegation to a new agent. */
export const parseLaunch = (args: JsonObject): TaskAsk => {
  const refuse = refuseFor("launch_principal");
  return {
    strategy: "new",
    ref: name(args, "profile_name", refuse),
    instruction: text(args, "instruction", refuse),
  };
};

const YES: ReadonlySet<unknown> = new Set([true, 1, "1", "true", "yes", "on"]);
const NO: ReadonlySet<unknown> = new Set([false, 0, "0", "false", "no", "off", "", null, undefined]);

/** Models write flags in many ways; text that cannot be read as a flag is refused. */
const flag = (args: JsonObject, key: string, refuse: Refuse): boolean => {
  const value = args[key];
  const folded = typeof value === "string" ? value.trim().toLowerCase() : value;
  if (YES.has(folded)) return true;
  if (NO.has(folded)) return false;
  throw refuse(key, "must be true or false");
};

export interface ExpertAsk {
  readonly task: TaskAsk;
  readonly includeHistory: boolean;
}

export const parseExpert = (args: JsonObject): ExpertAsk => {
  const refuse = refuseFor("ask_expert");
  return {
    task: {
      strategy: "new",
      ref: name(args, "expert_profile", refuse),
      instruction: text(args, "question", refuse),
    },
    includeHistory: flag(args, "include_history", refuse),
  };
};

const FORK_JOIN_KEYS: ReadonlySet<string> = new Set(["tasks", "fail_fast", "deadline_seconds"]);
const TASK_KEYS: ReadonlySet<string> = new Set(["target_strategy", "target_ref", "instruction", "context_box_id"]);

const refuseUnknown = (args: JsonObject, known: ReadonlySet<string>, refuse: Refuse, at: string): void => {
  const unknown = Object.keys(args).find((key) => !known.has(key));
  if (unknown !== undefined) throw refuse(`${at}${unknown.slice(0, MAX_NAME_LENGTH).toWellFormed()}`, "is not known");
};

/** Two turns of one agent run one after the other, so a batch may name an agent only once. */
const refuseTwice = (tasks: readonly TaskAsk[], refuse: Refuse): void => {
  const seen = new Set<string>();
  for (const [index, { strategy, ref }] of tasks.entries()) {
    if (strategy !== "reuse") continue;
    if (seen.has(ref)) throw refuse(`tasks[${index}].target_ref`, `agent ${ref} is already used by another task`);
    seen.add(ref);
  }
};

const parseDeadline = (args: JsonObject, refuse: Refuse): number | undefined => {
  const value = args.deadline_seconds;
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0)
    throw refuse("deadline_seconds", "must be a number greater than 0");
  return value;
};

export const parseForkJoin = (args: JsonObject, maxTasks: number): ForkJoinAsk => {
  const refuse = refuseFor("fork_join");
  refuseUnknown(args, FORK_JOIN_KEYS, refuse, "");
  const { tasks: given } = args;
  if (!Array.isArray(given) || given.length === 0) throw refuse("tasks", "must be a list of at least one task");
  if (given.length > maxTasks) throw refuse("tasks", `has ${given.length} tasks, the limit is ${maxTasks}`);
  const tasks = given.map((task: unknown, index) => {
    if (!isRecord(task)) throw refuse(`tasks[${index}]`, "must be an object");
    refuseUnknown(task as JsonObject, TASK_KEYS, refuse, `tasks[${index}].`);
    return parseTask(task as JsonObject, refuse, `tasks[${index}].`);
  });
  refuseTwice(tasks, refuse);
  return { tasks, failFast: flag(args, "fail_fast", refuse), deadlineSeconds: parseDeadline(args, refuse) };
};
