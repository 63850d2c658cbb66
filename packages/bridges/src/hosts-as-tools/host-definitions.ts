// The tools of a host as definitions of the plane. Pure: the host's description goes in, uploads come out.
//   HT1. A tool is `{host}__{tool}` unless a prefix says otherwise, on `cmd.tool.host_<name>.<tool>`.
//   HT2. A tool that cannot be registered is reported by name and left out; the others work.
//   HT3. The operator's decisions (deadline, safety, session, control) come from the configuration, never from the host.

import {
  definitionHash,
  type HashText,
  isRecord,
  type JsonObject,
  PROTOCOL_VERSION,
  type ToolDefinition,
  type ToolOptions,
  understandError,
} from "@toolplane/protocol";
import type { HostTool, RefusedHostTool } from "@toolplane/protocol/host";
import { type CompileSchema, parseToolDefinition, toolSubjectTemplate } from "@toolplane/protocol/registry";

export interface HostToolsOptions {
  /** The host's name. */
  readonly host: string;
  readonly projectId: string;
  /** The text before a tool's name; `{host}__` unless given. */
  readonly prefix?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly session?: "none" | "agent" | "argument" | undefined;
  readonly control?: "allow" | "strip" | undefined;
  readonly isRetrySafe: (hostTool: string) => boolean;
}

/** What a host said, as far as it matters here. */
export interface OfferedTools {
  readonly tools: readonly HostTool[];
  readonly refused: readonly RefusedHostTool[];
  readonly tags: readonly string[] | undefined;
  readonly requiredTags: readonly string[] | undefined;
}

export interface DefinedHostTool {
  /** As the host calls it. */
  readonly hostTool: string;
  readonly definition: ToolDefinition;
  readonly definitionHash: string;
  /** The argument that names the session is ours: it is removed before the host is called. */
  readonly ownsSessionArgument: boolean;
}

export interface DefinedHostTools {
  readonly tools: readonly DefinedHostTool[];
  readonly refused: readonly RefusedHostTool[];
}

export interface DefineMeans {
  readonly compileSchema: CompileSchema;
  readonly sha256: HashText;
}

const SESSION_ARGUMENT = "session_id";

/** Where the commands of a host's tools go. */
export const hostTarget = (host: string): string => `host_${host}`;

const declares = (parameters: JsonObject, name: string): boolean =>
  isRecord(parameters.properties) && Object.hasOwn(parameters.properties, name);

const withSessionArgument = (parameters: JsonObject): JsonObject => ({
  ...parameters,
  type: "object",
  properties: {
    ...(isRecord(parameters.properties) ? (parameters.properties as JsonObject) : {}),
    [SESSION_ARGUMENT]: {
      type: "string",
      description: "Calls with the same session_id share what the tool remembers.",
    },
  },
});

const optionsOf = (tool: HostTool, offered: OfferedTools, given: HostToolsOptions): ToolOptions => ({
  ...(given.timeoutSeconds === undefined ? {} : { timeout_seconds: given.timeoutSeconds }),
  ...(given.isRetrySafe(tool.name) ? { retry: "safe" as const } : {}),
  ...(given.session === undefined || given.session === "none" ? {} : { session: given.session }),
  ...(given.control === "allow" ? { control: "allow" as const } : {}),
  ...(offered.tags === undefined || offered.tags.length === 0 ? {} : { tags: [...offered.tags] }),
  ...(offered.requiredTags === undefined || offered.requiredTags.length === 0
    ? {}
    : { required_tags: [...offered.requiredTags] }),
});

const defineOne = (
  tool: HostTool,
  offered: OfferedTools,
  given: HostToolsOptions,
  { compileSchema, sha256 }: DefineMeans,
): DefinedHostTool => {
  const ownsSessionArgument = given.session === "argument" && !declares(tool.parameters, SESSION_ARGUMENT);
  const definition = parseToolDefinition(
    {
      tool_name: `${given.prefix ?? `${given.host}__`}${tool.name}`,
      description: tool.description,
      parameters: ownsSessionArgument ? withSessionArgument(tool.parameters) : tool.parameters,
      target_subject: toolSubjectTemplate(hostTarget(given.host), tool.name),
      after_execution: "suspend",
      options: optionsOf(tool, offered, given),
    },
    { projectId: given.projectId, version: PROTOCOL_VERSION, compileSchema },
  );
  return {
    hostTool: tool.name,
    definition,
    definitionHash: definitionHash(definition, sha256),
    ownsSessionArgument,
  };
};

export const defineHostTools = (
  offered: OfferedTools,
  given: HostToolsOptions,
  means: DefineMeans,
): DefinedHostTools => {
  const tools: DefinedHostTool[] = [];
  const refused: RefusedHostTool[] = [...offered.refused];
  for (const tool of offered.tools) {
    try {
      tools.push(defineOne(tool, offered, given, means));
    } catch (error) {
      refused.push({ name: tool.name, reason: understandError(error, { keepMessage: true }).message });
    }
  }
  return { tools, refused };
};
