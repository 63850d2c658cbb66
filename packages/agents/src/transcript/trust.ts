// Where a result comes from, and whether it is ours. Fail closed: a result of unknown origin is from outside (SEC-15).

import { CARD_AUTHORS, type Card, type ToolDefinition, tryParseSubject } from "@toolplane/protocol";

export type TrustSource = "internal" | "bundled" | "agent" | "http" | "mcp" | "host" | "function" | "unknown";

export interface ToolTrust {
  readonly source: TrustSource;
  /** `local`: this system's own words. `external`: data, shown in a fence. */
  readonly trust: "local" | "external";
  readonly version?: number | undefined;
}

export const LOCAL: ToolTrust = { source: "internal", trust: "local" };
export const UNKNOWN: ToolTrust = { source: "unknown", trust: "external" };

export interface TrustInput {
  /** Undefined when the tool does not exist any more. */
  readonly definition?: Pick<ToolDefinition, "target_subject" | "options"> | undefined;
  /** What registered it, when the registry knows: a bridge, a service. */
  readonly source?: TrustSource | undefined;
  readonly version?: number | undefined;
  /** Targets served by this installation with code of its own. */
  readonly bundledTargets?: ReadonlySet<string> | undefined;
}

/** A template has a placeholder for its project; only the target counts here. */
const targetOf = (template: string): string | undefined =>
  tryParseSubject(template.replaceAll("{project_id}", "p").replaceAll("{channel_id}", "c"))?.target;

export const planTrust = ({ definition, source, version, bundledTargets }: TrustInput): ToolTrust => {
  if (definition === undefined) return { ...UNKNOWN, version };
  if (definition.options.openapi !== undefined || definition.options.jina !== undefined) {
    return { source: "http", trust: "external", version };
  }
  const target = targetOf(definition.target_subject);
  if (target !== undefined && bundledTargets?.has(target) === true)
    return { source: "bundled", trust: "local", version };
  return {
    source: source ?? "function",
    trust: source === "internal" || source === "bundled" ? "local" : "external",
    version,
  };
};

/**
 * The trust of one result card. What the worker, the watchdog or the engine wrote is this system's own. The answer of another
 * agent is not, although the project manager delivers it: a model wrote it, after reading foreign text.
 */
export const resultTrust = (
  card: Pick<Card, "author_id" | "metadata">,
  trustOf: (toolName: string) => ToolTrust,
  agentId: string,
): ToolTrust => {
  const { author_id: author, metadata } = card;
  if (author === agentId || author === CARD_AUTHORS.watchdog) return LOCAL;
  if (author.startsWith(CARD_AUTHORS.pmo)) return { source: "agent", trust: "external" };
  if (author.startsWith("sys.")) return LOCAL;
  return typeof metadata.function_name === "string" ? trustOf(metadata.function_name) : UNKNOWN;
};
