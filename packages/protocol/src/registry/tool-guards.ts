// Merges what a program registers with what a person decided. A definition has two parts. The program's part describes its code:
// description, parameters, where in its own target the command goes, after_execution (its results could say it anyway, I11) and
// tags. Every other option is the person's part once a person has set it.
//   TG1. An option that the program leaves out stays as the person set it; one that is as strict or stricter is taken.
//   TG2. An option that is less strict is named in `weakens`; the registry must not put such a definition in force.
//   TG3. Switches that are closed by default (control, retry, service, ui_allowed, secrets_in_url, session) and variables (envs)
//        count as closed by the person even when the person did not mention them. Limits count only when set.

import { canonicalText } from "../json/canonical-text.ts";
import type { JsonValue } from "../json/json-value.ts";
import { checkOptions } from "../tools/check-options.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import { burstOf } from "../tools/limits.ts";
import { resolveOptions, type ToolOptions } from "../tools/options.ts";

export interface GuardedDefinition {
  readonly definition: ToolDefinition;
  /** The options that are less strict than the person's, as paths: `options.args.fixed.account`. Sorted. */
  readonly weakens: readonly string[];
}

/** The option a person set (or left out) and the one a program wants: is it less strict? */
type IsWeaker<Key extends keyof ToolOptions> = (
  guard: ToolOptions[Key],
  wish: NonNullable<ToolOptions[Key]>,
) => boolean;

/** The same as JSON; undefined counts as null. */
export const isEqual = (one: unknown, other: unknown): boolean =>
  canonicalText((one ?? null) as JsonValue) === canonicalText((other ?? null) as JsonValue);

const isOpened =
  <Value>(open: Value) =>
  (guard: Value | undefined, wish: Value): boolean =>
    wish === open && guard !== open;

const isRaised = (guard: number | undefined, wish: number): boolean => guard !== undefined && wish > guard;

/** From the weakest to the strictest. */
const STRICTNESS = ["never", "external", "required"] as const;

const isApprovalWeaker: IsWeaker<"approval"> = (guard, wish) => {
  const [before, after] = [resolveOptions({ approval: guard }).approval, resolveOptions({ approval: wish }).approval];
  if (before.policy === "never") return false;
  return (
    STRICTNESS.indexOf(after.policy) < STRICTNESS.indexOf(before.policy) ||
    // Neither is stricter: with more time an old question is answered, with less no person is in time.
    after.timeoutSeconds !== before.timeoutSeconds
  );
};

/** Codes that a person did not name, or any others than the plane's own, are tried again. */
const isRetriedMore = (guard: readonly string[] | undefined, wish: readonly string[] | undefined): boolean =>
  guard === undefined ? wish !== undefined : wish === undefined || wish.some((code) => !guard.includes(code));

type WholeOption = Exclude<keyof ToolOptions, "args" | "envs" | "tags">;

/** Every option must be here, in MAPS, or be `tags`: otherwise the code does not compile. */
const IS_WEAKER: { readonly [Key in WholeOption]: IsWeaker<Key> } = {
  approval: isApprovalWeaker,
  control: isOpened<"allow" | "strip">("allow"),
  retry: isOpened<"safe" | "never">("safe"),
  service: isOpened<"plain" | "leased">("plain"),
  ui_allowed: isOpened(true),
  secrets_in_url: isOpened(true),
  pin: (guard, wish) => guard === "strict" && wish !== "strict",
  session: (guard, wish) => wish !== "none" && wish !== guard,
  required_tags: (guard = [], wish) => guard.some((tag) => !wish.includes(tag)),
  concurrency: isRaised,
  timeout_seconds: isRaised,
  queue_timeout_seconds: isRaised,
  timeout_s: isRaised,
  timeout: isRaised,
  rate: (guard, wish) =>
    guard !== undefined &&
    (wish.limit > guard.limit ||
      wish.per_seconds < guard.per_seconds ||
      burstOf(wish, "delay") > burstOf(guard, "delay")),
  breaker: (guard, wish) =>
    guard !== undefined &&
    (wish.failure_rate > guard.failure_rate ||
      wish.open_seconds < guard.open_seconds ||
      // Neither is stricter: in a short window too few runs end, in a long one old successes count.
      wish.window_seconds !== guard.window_seconds),
  retry_policy: (guard, wish) =>
    guard !== undefined &&
    (wish.attempts > guard.attempts ||
      wish.backoff_seconds < guard.backoff_seconds ||
      (wish.max_backoff_seconds ?? Number.POSITIVE_INFINITY) <
        (guard.max_backoff_seconds ?? Number.POSITIVE_INFINITY) ||
      isRetriedMore(guard.codes, wish.codes)),
  // Where a request goes and with which variables: no value is stricter than another.
  jina: (guard, wish) => !isEqual(guard, wish),
  openapi: (guard, wish) => !isEqual(guard, wish),
  // Another parameter would show to callers the one that a person took away from them.
  input: (guard, wish) => guard !== undefined && guard !== wish,
  // For people and clients: the plane does not act on them.
  title: () => false,
  output_schema: () => false,
  annotations: () => false,
  task: () => false,
};

type Values = Readonly<Record<string, JsonValue>>;

/** The person's values stay; another value for one of their names, or a name that may not be added, counts as weaker. */
const mergeValues = (guard: Values = {}, wish: Values = {}, mayAdd: (name: string) => boolean) => ({
  merged: { ...guard, ...wish },
  weakens: Object.entries(wish)
    .filter(([name, value]) => (Object.hasOwn(guard, name) ? !isEqual(guard[name], value) : !mayAdd(name)))
    .map(([name]) => name),
});

const mergeArgs = ({ args: guard = {}, envs = {} }: ToolOptions, { args: wish = {} }: ToolOptions) => {
  // A program may fix a parameter of its own; but fixing one that has the person's default or variable would remove that.
  const isFree = (name: string): boolean => !Object.hasOwn(guard.defaults ?? {}, name) && !Object.hasOwn(envs, name);
  const fixed = mergeValues(guard.fixed, wish.fixed, isFree);
  const defaults = mergeValues(guard.defaults, wish.defaults, () => true);
  const isLoosened = (wish.allow_null ?? []).some((name) => guard.allow_null?.includes(name) !== true);
  const merged = {
    ...(guard.fixed === undefined && wish.fixed === undefined ? {} : { fixed: fixed.merged }),
    ...(guard.defaults === undefined && wish.defaults === undefined ? {} : { defaults: defaults.merged }),
    ...(guard.allow_null === undefined ? {} : { allow_null: guard.allow_null }),
    ...(wish.allow_null === undefined ? {} : { allow_null: wish.allow_null }),
  };
  const weakens = [
    ...fixed.weakens.map((name) => `options.args.fixed.${name}`),
    ...defaults.weakens.map((name) => `options.args.defaults.${name}`),
    ...(isLoosened ? ["options.args.allow_null"] : []),
  ];
  return { merged, weakens };
};

const mergeOptions = (guard: ToolOptions, wish: ToolOptions) => {
  const { tags: _, ...kept } = guard;
  const args = mergeArgs(guard, wish);
  const envs = mergeValues(guard.envs, wish.envs, () => false);
  const options: ToolOptions = {
    ...kept,
    ...wish,
    ...(guard.args === undefined && wish.args === undefined ? {} : { args: args.merged }),
    ...(guard.envs === undefined && wish.envs === undefined
      ? {}
      : { envs: envs.merged as Readonly<Record<string, string>> }),
  };
  const isWeaker = <Key extends WholeOption>(key: Key): boolean => {
    const wanted = wish[key];
    return wanted !== undefined && (IS_WEAKER[key] as IsWeaker<Key>)(guard[key], wanted as never);
  };
  const weakens = [
    ...(Object.keys(IS_WEAKER) as WholeOption[]).filter(isWeaker).map((key) => `options.${key}`),
    ...args.weakens,
    ...envs.weakens.map((name) => `options.envs.${name}`),
  ];
  return { options, weakens };
};

const targetOf = ({ target_subject: subject }: ToolDefinition): string => subject.split(".")[6] ?? "";

/** The guard's options that the upload does not have in the same form. */
const missingOptions = (guard: ToolOptions, wish: ToolOptions): readonly string[] =>
  (Object.keys(guard) as (keyof ToolOptions)[])
    .filter((key) => key !== "tags" && !isEqual(guard[key], wish[key]))
    .map((key) => `options.${key}`);

const isUsable = (definition: ToolDefinition): boolean => {
  try {
    // The variables that may be named were checked with each of the two uploads.
    checkOptions(definition, { projectId: "" });
    return true;
  } catch {
    return false;
  }
};

/** `guard` is what a person applied or accepted last, `upload` what a program registers now; both were parsed. */
export const applyGuards = (guard: ToolDefinition, upload: ToolDefinition): GuardedDefinition => {
  const { options, weakens } = mergeOptions(guard.options, upload.options);
  const moved = targetOf(guard) === targetOf(upload) ? [] : ["target_subject"];
  const { pin, ...unpinned } = options;
  // A plain service takes no lease, and a lease is what checks the version: the person's pin would stand there and do nothing.
  const isUnpinned = pin === "strict" && options.service === "plain";
  if (isUnpinned) weakens.push("options.pin");
  const merged: ToolDefinition = { ...upload, options: isUnpinned ? unpinned : options };
  // The new schema has no place for what the person fixed, or another spelling of it: only a person may give that up.
  if (!isUsable(merged))
    return {
      definition: upload,
      weakens: [...missingOptions(guard.options, upload.options), ...moved, "parameters"].sort(),
    };
  return { definition: merged, weakens: [...weakens, ...moved].sort() };
};
