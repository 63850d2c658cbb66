// Brings the tools, profiles and agents of the configuration into the registry at every start. Entries that
// are unchanged stay as they are; a mistake stops the start and names the file.

import type { Actor, Engine, Log } from "@toolplane/engine";
import { isToolplaneError, ToolplaneError, understandError } from "@toolplane/protocol";
import { checkNames, type DefinitionFile, readDefinitionFiles } from "./config-files.ts";
import type { Settings } from "./settings.ts";

/** What the patterns of the configuration found. */
export interface ConfigDefinitions {
  readonly tools: readonly DefinitionFile[];
  readonly profiles: readonly DefinitionFile[];
}

export interface ApplyConfigOptions {
  readonly engine: Pick<Engine, "projects" | "tools" | "profiles" | "agents">;
  readonly settings: Pick<Settings, "project" | "projectNamed" | "agents" | "limits">;
  readonly definitions: ConfigDefinitions;
  readonly log: Log;
}

/** The owner of what comes from the configuration: other programs cannot take it over. */
const SOURCE = "config";
const OWNER = "sys.config";
/** The operator's own files. */
const BY: Actor = { door: "config", tokenId: null, role: "admin", actor: OWNER };

const within = (where: string, error: unknown): ToolplaneError => {
  const known = understandError(error, { keepMessage: true });
  const todo = "correct it and start again";
  return new ToolplaneError(known.code, `${where}: ${known.message}`, {
    detail: { todo, ...known.detail },
    cause: error,
  });
};

/** Makes a project with the bundled tools unless it is there. */
export const ensureProject = async (
  projects: Engine["projects"],
  projectId: string,
  title: string,
): Promise<"created" | "there"> => {
  if ((await projects.getProject(projectId)) !== undefined) return "there";
  try {
    await projects.createProject({ project_id: projectId, title, bootstrap: true }, OWNER);
    return "created";
  } catch (error) {
    // Another process on the same database was quicker.
    if (isToolplaneError(error) && error.code === "conflict") return "there";
    throw error;
  }
};

/** Runs before anything is started: a file that cannot be read is refused without a database. */
export const readDefinitions = (
  { tools, profiles }: Pick<Settings, "tools" | "profiles">,
  cwd: string,
  log: Log,
): ConfigDefinitions => {
  const found = {
    tools: readDefinitionFiles(tools, cwd, log),
    profiles: readDefinitionFiles(profiles, cwd, log),
  };
  checkNames(found.tools, "tool_name");
  checkNames(found.profiles, "name");
  return found;
};

const applyTools = async ({ engine, settings, definitions }: ApplyConfigOptions): Promise<number> => {
  const files = definitions.tools;
  if (files.length === 0) return 0;
  const uploads = files.map(({ value }) => value);
  const results = await engine.tools.upsertTools(settings.project, uploads, { source: SOURCE, asPerson: true, by: BY });
  results.forEach((result, index) => {
    if (result instanceof ToolplaneError) throw within(files[index]?.name ?? "", result);
  });
  return files.length;
};

const applyProfiles = async ({ engine, settings, definitions }: ApplyConfigOptions): Promise<number> => {
  const files = definitions.profiles;
  for (const { name, value } of files) {
    await engine.profiles.upsertProfile(settings.project, value, BY).catch((error: unknown) => {
      throw within(name, error);
    });
  }
  return files.length;
};

const applyAgents = async ({ engine, settings }: ApplyConfigOptions): Promise<number> => {
  for (const { where, value } of settings.agents) {
    await engine.agents.upsertAgent(settings.project, value, BY).catch((error: unknown) => {
      throw within(where, error);
    });
  }
  return settings.agents.length;
};

export const applyConfig = async (options: ApplyConfigOptions): Promise<void> => {
  const { engine, settings, definitions, log } = options;
  const { project, projectNamed, agents, limits } = settings;
  const listed = definitions.tools.length + definitions.profiles.length + agents.length;
  if (!projectNamed && listed === 0 && limits === undefined) return;
  const made = await ensureProject(engine.projects, project, project);
  if (limits !== undefined) await engine.projects.applyFileLimits(project, limits);
  // Agents name profiles, so profiles come first.
  const applied = {
    tools: await applyTools(options),
    profiles: await applyProfiles(options),
    agents: await applyAgents(options),
  };
  log.info("the configuration is applied", { project, created: made === "created", ...applied });
};
