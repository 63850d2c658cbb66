// The agent that a task goes to, and the cards it may take along. Pure: facts from the database come in, a plan or a refusal goes
// out. A fact that could not be found never skips a check (W-18).

import type { AgentWrite, Parties, Party } from "@toolplane/engine";
import { type ErrorCode, ToolplaneError } from "@toolplane/protocol";
import { type Profile, planBoxInheritance, planDelegation, profileKey } from "@toolplane/protocol/registry";
import type { TaskAsk } from "./pmo-arguments.ts";

export interface PlannedTarget {
  readonly agentId: string;
  readonly profileBoxId: string;
  /** In this order, before the instruction. */
  readonly inheritBoxIds: readonly string[];
  /** The agent that must be made first. */
  readonly create?: AgentWrite["agent"] | undefined;
}

export interface TargetInput {
  readonly task: TaskAsk;
  readonly projectId: string;
  readonly callerId: string;
  readonly parties: Parties;
  /** Makes the id of a new agent: the same one for the same call and task. */
  readonly newAgentId: (profileBoxId: string) => string;
  /** Further metadata of a new agent. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

const refuse = (code: ErrorCode, message: string): ToolplaneError => new ToolplaneError(code, message);

/** Throws the refusal of the guard, if there is one. */
export const checkDelegation = (caller: Party | undefined, target: Profile | undefined): void => {
  const decision = planDelegation({ caller: caller?.agent, callerProfile: caller?.profile, target });
  if (!decision.allowed) throw refuse(decision.code, decision.message);
};

const outputOf = ({ boxes }: Party): string | undefined => boxes.output ?? boxes.lastOutput ?? undefined;

interface Chosen {
  readonly agentId: string;
  readonly profileBoxId: string;
  readonly create?: PlannedTarget["create"];
  /** The output a clone starts from. */
  readonly inherits?: string | undefined;
}

const TAIL = 4;
const NAME_LENGTH = 40;

/** What people and the agent's own prompt see: its id is 69 characters long. */
const shortName = (of: string, agentId: string): string => `${of.slice(0, NAME_LENGTH)}-${agentId.slice(-TAIL)}`;

const chooseNew = ({ task, projectId, callerId, parties, newAgentId, metadata }: TargetInput): Chosen => {
  const caller = parties.agents.get(callerId);
  const named = parties.profiles.get(profileKey(task.ref));
  if (caller !== undefined && named === undefined) throw refuse("not_found", `there is no profile ${task.ref}`);
  checkDelegation(caller, named?.profile);
  if (named === undefined) throw refuse("not_found", `there is no profile ${task.ref}`);
  const { profile, profileBoxId } = named;
  const agentId = newAgentId(profileBoxId);
  return {
    agentId,
    profileBoxId,
    create: {
      project_id: projectId,
      agent_id: agentId,
      profile_box_id: profileBoxId,
      worker_target: profile.worker_target,
      tags: [...profile.tags],
      display_name: shortName(profile.name, agentId),
      owner_agent_id: callerId,
      metadata: { ...metadata, profile_name: profile.name, spawned_by: callerId },
    },
  };
};

const findAgent = ({ task, callerId, parties }: TargetInput): Party => {
  const found = parties.agents.get(task.ref);
  const caller = parties.agents.get(callerId);
  if (caller !== undefined && found === undefined) throw refuse("not_found", `there is no agent ${task.ref}`);
  checkDelegation(caller, found?.profile);
  if (found === undefined) throw refuse("not_found", `there is no agent ${task.ref}`);
  if (found.agent.status !== "active") throw refuse("auth_failed", `agent ${task.ref} is not active`);
  return found;
};

const chooseReuse = (input: TargetInput): Chosen => {
  const { agent } = findAgent(input);
  return { agentId: agent.agent_id, profileBoxId: agent.profile_box_id };
};

const chooseClone = (input: TargetInput): Chosen => {
  const source = findAgent(input);
  const inherits = outputOf(source);
  if (inherits === undefined)
    throw refuse("bad_request", `agent ${input.task.ref} has no output yet: there is nothing to clone`);
  const { agent } = source;
  const agentId = input.newAgentId(agent.profile_box_id);
  return {
    agentId,
    profileBoxId: agent.profile_box_id,
    inherits,
    create: {
      project_id: input.projectId,
      agent_id: agentId,
      profile_box_id: agent.profile_box_id,
      worker_target: agent.worker_target,
      tags: [...agent.tags],
      display_name: shortName(agent.display_name ?? source.profile?.name ?? agent.agent_id, agentId),
      owner_agent_id: agent.agent_id,
      metadata: {
        ...input.metadata,
        ...(source.profile === undefined ? {} : { profile_name: source.profile.name }),
        derived_from: agent.agent_id,
        spawned_by: input.callerId,
      },
    },
  };
};

const CHOOSERS = { new: chooseNew, reuse: chooseReuse, clone: chooseClone } as const;

const ownBoxes = (caller: Party | undefined): string[] => {
  const { profile, context, output, lastOutput } = caller?.boxes ?? {};
  return [profile, context, output, lastOutput].filter((box): box is string => typeof box === "string");
};

const checkBoxes = (input: TargetInput, requested: readonly string[], given: readonly string[]): void => {
  const decision = planBoxInheritance({
    requested,
    inheritable: [...ownBoxes(input.parties.agents.get(input.callerId)), ...given],
    existing: [...input.parties.boxes],
  });
  if (!decision.allowed) throw refuse(decision.code, decision.message);
};

export const planTarget = (input: TargetInput): PlannedTarget => {
  const { inherits, ...chosen } = CHOOSERS[input.task.strategy](input);
  const cloned = inherits === undefined ? [] : [inherits];
  const { contextBoxId } = input.task;
  const requested = [...(contextBoxId === undefined ? [] : [contextBoxId]), ...cloned];
  checkBoxes(input, requested, cloned);
  return { ...chosen, inheritBoxIds: [...new Set(requested)] };
};

/** Everything a set of tasks may need to be looked up. */
export const askedOf = (callerId: string, tasks: readonly TaskAsk[]) => ({
  agentIds: [callerId, ...tasks.flatMap(({ strategy, ref }) => (strategy === "new" ? [] : [ref]))],
  profileNames: tasks.flatMap(({ strategy, ref }) => (strategy === "new" ? [ref] : [])),
});

/** The boxes that must exist: those that are named, and the outputs that clones start from. */
export const boxesOf = (tasks: readonly TaskAsk[], parties: Parties): string[] =>
  tasks.flatMap(({ strategy, ref, contextBoxId }) => {
    const source = strategy === "clone" ? parties.agents.get(ref) : undefined;
    const output = source === undefined ? undefined : outputOf(source);
    return [contextBoxId, output].filter((box): box is string => box !== undefined);
  });
