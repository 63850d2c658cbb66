// The tools a new project starts with: the project manager's five, and the marker tool for user interfaces.
// They go through the same registration as any other definition (`internal: true`), so they are uploads, not rows.

import type { JsonObject } from "../json/json-value.ts";
import { PROTOCOL_VERSION } from "../subjects/subject.ts";
import { toolSubjectTemplate } from "../tools/target-subject.ts";
import type { PmoToolName } from "../tools/tool-name.ts";
import { DEFAULT_FORK_JOIN_TASKS } from "./project-limits.ts";

/** How long fork_join waits for its children unless the caller says otherwise. */
export const FORK_JOIN_DEADLINE_SECONDS = 900;

/** The parent must outlive its children's deadline, or it times out before they can answer (W-26). */
const FORK_JOIN_TIMEOUT_SECONDS = FORK_JOIN_DEADLINE_SECONDS + 60;

const text = (description: string): JsonObject => ({ type: "string", description });

const closed = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const target: JsonObject = {
  target_strategy: {
    type: "string",
    enum: ["new", "reuse", "clone"],
    description: "new: an agent of a profile; reuse: an existing agent; clone: a copy of one with its output",
  },
  target_ref: text("A profile name for new, an agent id for reuse and clone"),
  instruction: text("What to do"),
  context_box_id: text("A box of yours the agent may read"),
};
const TARGET_REQUIRED = ["target_strategy", "target_ref", "instruction"];

interface Seed {
  readonly description: string;
  readonly parameters: JsonObject;
  readonly options: JsonObject;
}

const pmoSeeds = (forkJoinTasks: number): Readonly<Record<PmoToolName, Seed>> => ({
  delegate_async: {
    description:
      "Hand a task to another agent and go on without waiting for it. What it delivers does not come back to you: use fork_join to wait for it.",
    parameters: closed(target, TARGET_REQUIRED),
    options: { ui_allowed: true },
  },
  launch_principal: {
    description: "Start a new agent of a profile on a task.",
    parameters: closed({ profile_name: text("The profile"), instruction: text("What to do") }, [
      "profile_name",
      "instruction",
    ]),
    options: {},
  },
  ask_expert: {
    description: "Ask a new agent of an expert profile a question.",
    parameters: closed(
      {
        expert_profile: text("The profile of the expert"),
        question: text("The question"),
        include_history: { type: "boolean", default: false, description: "Let the expert read your output so far" },
      },
      ["expert_profile", "question"],
    ),
    options: {},
  },
  fork_join: {
    description: "Give tasks to several agents at once and wait for all of them.",
    parameters: closed(
      {
        tasks: { type: "array", minItems: 1, maxItems: forkJoinTasks, items: closed(target, TARGET_REQUIRED) },
        fail_fast: { type: "boolean", default: false, description: "Stop the others when one fails" },
        deadline_seconds: { type: "number", exclusiveMinimum: 0, description: "How long to wait for all of them" },
      },
      ["tasks"],
    ),
    options: { timeout_seconds: FORK_JOIN_TIMEOUT_SECONDS },
  },
  provision_agent: {
    description: "Make sure an agent exists, create one, or derive one from another.",
    parameters: closed(
      {
        action: { type: "string", enum: ["ensure", "create", "derive"] },
        agent_id: text("The agent"),
        profile_name: text("Its profile"),
        profile_box_id: text("Its profile by box"),
        derived_from: text("The agent it is derived from"),
        display_name: text("A name for people"),
        owner_agent_id: text("The agent that owns it"),
        worker_target: text("The pool that serves it"),
        active_channel_id: text("Its channel"),
        tags: { type: "array", items: { type: "string" } },
        metadata: { type: "object" },
      },
      ["action", "agent_id"],
    ),
    options: { ui_allowed: true },
  },
});

export interface BootstrapOptions {
  /** The target the bundled tool service listens on. */
  readonly bundledTarget: string;
  /** The project's limit. */
  readonly forkJoinTasks?: number | undefined;
}

export const bootstrapTools = ({
  bundledTarget,
  forkJoinTasks = DEFAULT_FORK_JOIN_TASKS,
}: BootstrapOptions): readonly JsonObject[] => [
  ...Object.entries(pmoSeeds(forkJoinTasks)).map(([name, { description, parameters, options }]) => ({
    tool_name: name,
    description,
    parameters,
    target_subject: `cg.${PROTOCOL_VERSION}.{project_id}.{channel_id}.cmd.sys.pmo.internal.${name}`,
    after_execution: "suspend",
    // A repeated call finds what it made the first time, so a manager that dies costs only time.
    options: { retry: "safe", ...options },
  })),
  {
    tool_name: "emit_marker",
    description: "Mark the current answer for the user interface as a recommendation that can be adopted.",
    parameters: closed({ marker_type: text("The kind of marker") }, []),
    target_subject: toolSubjectTemplate(bundledTarget, "emit_marker"),
    after_execution: "suspend",
    options: { args: { fixed: { marker_type: "adoptable_recommendation" } }, retry: "safe" },
  },
];
