// A document becomes tools. Pure: what the document says, and what the configuration says about it.
//   IM1. An operation that cannot be imported is named with the reason; all others are imported.
//   IM2. The same document gives the same definitions, in any order of its parts.
//   IM3. The outcome holds nothing of the document but definitions and reasons: the document can be dropped.

import {
  badRequest,
  definitionText,
  type HashText,
  isRecord,
  type JsonObject,
  type JsonValue,
  PROTOCOL_VERSION,
  type ToolDefinition,
  understandError,
} from "@toolplane/protocol";
import { parseToolDefinition } from "@toolplane/protocol/registry";
import { parseAuthScheme } from "../http/plan-auth.ts";
import { createSchemaConverter } from "./convert-schema.ts";
import { defineOperation } from "./define-operation.ts";
import { listOperations } from "./list-operations.ts";
import { createFilter, type NamedOperation, nameOperations, placeOf } from "./name-operations.ts";
import { planServer } from "./plan-servers.ts";
import { createReferences, type LoadFile } from "./references.ts";

export interface ImportOptions {
  /** The name of the API; `{name}__` is the prefix of its tools unless another is given. */
  readonly name: string;
  readonly projectId: string;
  readonly prefix: string | undefined;
  readonly baseUrl: string | undefined;
  /** Patterns of hosts; undefined: the host of `baseUrl`, else of the document's address, else of the document's servers. */
  readonly allowHosts: readonly string[] | undefined;
  readonly operations: readonly string[] | undefined;
  readonly auth: { readonly scheme: string; readonly env: string } | undefined;
  /** How long a call may take; undefined: as for every tool. */
  readonly timeoutSeconds: number | undefined;
  /** Where the document was fetched from; undefined for a file. */
  readonly documentUrl: string | undefined;
}

export interface ImportMeans {
  readonly load: LoadFile;
  readonly sha256: HashText;
  readonly isLinear: (pattern: string) => boolean;
  /** Why a request to this address would be refused; undefined: it may be asked. */
  readonly whyRefused: (address: string, hosts: readonly string[]) => string | undefined;
}

export interface ImportedTool {
  readonly definition: ToolDefinition;
  readonly definitionHash: string;
}

export interface RefusedOperation {
  /** `GET /pets/{id}` or, for a path that cannot be read, the path. */
  readonly operation: string;
  readonly reason: string;
  /** The name that its tool would have; undefined when it has none. */
  readonly toolName?: string | undefined;
}

export interface ImportOutcome {
  /** `3.0.3`. */
  readonly version: string;
  readonly found: number;
  /** The tools that the configuration's patterns leave out. */
  readonly leftOut: readonly string[];
  readonly tools: readonly ImportedTool[];
  readonly refused: readonly RefusedOperation[];
  readonly notes: readonly string[];
}

/** More tools than this fill the registry, and no model can choose among them. */
const MAX_TOOLS = 5_000;
/** Each operation holds the schemas it needs; a document may make all of them need the same large ones. */
const MAX_CHARS = 64 * 1024 * 1024;

const versionOf = (root: JsonValue): string => {
  const version = isRecord(root) ? ((root as JsonObject).openapi ?? (root as JsonObject).swagger) : undefined;
  if (typeof version === "string" && /^3\.[01](?:\.\d+)?(?:-[\w.]+)?$/u.test(version)) return version;
  if (version === undefined) throw badRequest("it is not an OpenAPI document: it has no key openapi");
  if (isRecord(root) && typeof (root as JsonObject).swagger === "string" && (root as JsonObject).openapi === undefined)
    throw badRequest(
      "it is a Swagger 2.0 document, and OpenAPI 3.0 and 3.1 are imported: convert it first, for example with: npx swagger2openapi DOCUMENT -o openapi.json",
    );
  throw badRequest(`it is of version ${JSON.stringify(version).slice(0, 20)}; OpenAPI 3.0 and 3.1 are imported`);
};

const hostOf = (address: string): string => new URL(address).hostname;

export const importDocument = (
  file: string,
  root: JsonValue,
  options: ImportOptions,
  means: ImportMeans,
): ImportOutcome => {
  const version = versionOf(root);
  const references = createReferences({ value: root as JsonObject, file }, means.load);
  const { sha256, isLinear, whyRefused } = means;
  const converter = createSchemaConverter({ references, isOld: version.startsWith("3.0"), isLinear, sha256 });
  const listed = listOperations(references);
  const {
    named,
    refused: unnamed,
    notes,
  } = nameOperations(listed.operations, {
    prefix: options.prefix ?? `${options.name}__`,
    sha256,
  });
  const auth = parseAuthScheme(options.auth?.scheme, options.auth?.env);
  const isChosen = createFilter(options.operations);
  const chosen = named.filter(isChosen);
  if (chosen.length > MAX_TOOLS)
    throw badRequest(`it has ${chosen.length} operations, more than ${MAX_TOOLS}: choose some with operations`);

  /** A fetched document may not name other hosts than its own unless the configuration does. */
  const hostsFor = (baseUrl: string): readonly string[] => {
    const { allowHosts, documentUrl, baseUrl: configured } = options;
    if (allowHosts !== undefined) return allowHosts;
    return [hostOf(configured ?? documentUrl ?? baseUrl)];
  };

  let chars = 0;
  const defineOne = (operation: NamedOperation): ImportedTool => {
    const baseUrl = planServer(operation, { ...options, root: root as JsonObject });
    const allowHosts = hostsFor(baseUrl);
    const why = whyRefused(baseUrl, allowHosts);
    if (why !== undefined) throw badRequest(why);
    const upload = defineOperation(operation, references, converter, {
      source: options.name,
      baseUrl,
      allowHosts,
      auth,
      authOption: options.auth && { ...options.auth },
      timeoutSeconds: options.timeoutSeconds,
    });
    const definition = parseToolDefinition(upload, {
      projectId: options.projectId,
      version: PROTOCOL_VERSION,
      // The registry compiles it.
      compileSchema: () => () => [],
    });
    const text = definitionText(definition);
    chars += text.length;
    return { definition, definitionHash: sha256(text) };
  };

  const tools: ImportedTool[] = [];
  const refused: RefusedOperation[] = [...listed.unreadable, ...unnamed];
  for (const operation of chosen) {
    if (chars > MAX_CHARS)
      throw badRequest(`its tools would take more than ${MAX_CHARS} characters: choose some with operations`);
    try {
      tools.push(defineOne(operation));
    } catch (error) {
      refused.push({
        operation: placeOf(operation),
        reason: understandError(error, { keepMessage: true }).message,
        toolName: operation.toolName,
      });
    }
  }
  return {
    version,
    found: listed.operations.length,
    leftOut: named.filter((operation) => !isChosen(operation)).map(({ toolName }) => toolName),
    tools,
    refused,
    notes,
  };
};
