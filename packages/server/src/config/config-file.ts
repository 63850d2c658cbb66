// toolplane.yaml: every key it may have, and the errors for wrong ones. All keys are checked. A key of a part that this version
// cannot run is refused by name when it is used, and never silently ignored.

import { describeSchemaIssue, isRecord } from "@toolplane/protocol";
import { withoutTypeBounds } from "@toolplane/protocol/agents";
import { fileLimitsSchema } from "@toolplane/protocol/registry";
import { z } from "zod";
import { refuseConfig } from "./refuse.ts";
import { parseYamlFile, type YamlFile } from "./yaml-file.ts";

const name = z.string().min(1).max(64);
const argv = z.array(z.string().min(1)).min(1);
const globs = z.array(z.string().min(1));
const envNames = z.array(z.string().min(1));
const seconds = z.number().positive();
const paths = z.array(z.string().min(1));

const host = z.strictObject({
  name,
  command: argv,
  config: z.record(z.string(), z.json()).optional(),
  pool: z.int().min(1).optional(),
  env: envNames.optional(),
  timeout_seconds: seconds.optional(),
  retry_safe: globs.optional(),
  session: z.enum(["none", "agent", "argument"]).optional(),
  prefix: z.string().optional(),
  control: z.enum(["allow", "strip"]).optional(),
  sandbox: z
    .strictObject({ read: paths.optional(), write: paths.optional(), child_process: z.boolean().optional() })
    .optional(),
  /** As root: run as the server's own user instead of a user that only this host has. */
  user: z.enum(["inherit"]).optional(),
  /** By their names in snake_case; checked where hosts are made. */
  limits: z.record(z.string(), z.number()).optional(),
});

/** Whether a server is a program or an address is checked where servers are read. */
const mcpServer = z.strictObject({
  name,
  command: argv.optional(),
  url: z.string().min(1).optional(),
  headers: z.record(z.string().min(1), z.string()).optional(),
  tools: globs.optional(),
  trust_hints: z.boolean().optional(),
  env: envNames.optional(),
  prefix: z.string().optional(),
  timeout_seconds: z.number().positive().optional(),
  user: z.enum(["inherit"]).optional(),
  elicitation: z.enum(["refuse", "defaults"]).optional(),
});

const openapi = z.strictObject({
  name,
  spec: z.string().min(1),
  base_url: z.string().min(1).optional(),
  allow_hosts: z.array(z.string().min(1)).optional(),
  operations: globs.optional(),
  auth: z.strictObject({ scheme: z.string().min(1), env: z.string().min(1) }).optional(),
  auth_env: z.string().min(1).optional(),
  prefix: z.string().optional(),
  timeout_seconds: z.number().positive().optional(),
});

/** Values may be `env:NAME`, so a number may be a text. */
const bus = z.strictObject({
  url: z.string().min(1).optional(),
  password_file: z.string().min(1).optional(),
  credentials: z.string().min(1).optional(),
  ca: z.string().min(1).optional(),
  cert: z.string().min(1).optional(),
  key: z.string().min(1).optional(),
  inbox_prefix: z.string().min(1).optional(),
  replicas: z.union([z.int(), z.string().min(1)]).optional(),
});

/** A plain name, or for whom and where to. */
const allowedEnv = z.union(
  [
    z.string().min(1),
    z.strictObject({
      name: z.string().min(1),
      projects: z.array(z.string().min(1)).min(1).optional(),
      hosts: z.array(z.string().min(1)).min(1).optional(),
    }),
  ],
  "expected the name of a variable, or { name, projects, hosts } with lists that are not empty",
);

/** Its numbers are checked where the policy is made, which says it in one sentence. */
const retention = z.strictObject({
  days: z.unknown().optional(),
  projects: z.record(z.string(), z.unknown()).optional(),
});

export const configSchema = z.strictObject({
  project: name.optional(),
  database: z
    .strictObject({ url: z.string().min(1).optional(), migration_url: z.string().min(1).optional() })
    .optional(),
  bus: bus.optional(),
  hosts: z.array(host).optional(),
  mcp_servers: z.array(mcpServer).optional(),
  openapi: z.array(openapi).optional(),
  tools: globs.optional(),
  profiles: globs.optional(),
  /** Only the shape is checked here; the registry checks its own rules. */
  worker_targets: z.array(name).optional(),
  agents: z.array(z.record(z.string(), z.json())).optional(),
  secrets: z
    .strictObject({
      allow_env: z.array(allowedEnv).optional(),
      /** Target -> parameter -> variable; `*` is every target. */
      envs: z.record(z.string().min(1), z.record(z.string().min(1), z.string().min(1))).optional(),
    })
    .optional(),
  egress: z
    .strictObject({
      allow: z.array(z.string().min(1)).optional(),
      /** Hosts that the bundled tool `http_get` may ask. */
      http_get: z.array(z.string().min(1)).optional(),
    })
    .optional(),
  webhooks: z
    .strictObject({
      /** Hosts that webhooks may be sent to; without it they are off. */
      allow_hosts: z.array(z.string().min(1)).optional(),
    })
    .optional(),
  retention: retention.optional(),
  limits: fileLimitsSchema.optional(),
});

export type FileConfig = z.infer<typeof configSchema>;

export interface ConfigFile {
  readonly config: FileConfig;
  readonly where: YamlFile["where"];
}

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`))
    .join("");

const explain = (issue: z.core.$ZodIssue, file: YamlFile): string => {
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const parent = pathText(issue.path);
    // The schema's own words may end with the key that was meant.
    const meant = /; did you mean [a-z_]+\?$/.exec(issue.message)?.[0] ?? "";
    return `${file.where(issue.path, key)}: unknown key ${JSON.stringify(key)}${parent === "" ? "" : ` in ${parent}`}${meant}`;
  }
  return `${file.where(issue.path)}: ${pathText(issue.path) || "the file"}: ${describeSchemaIssue(issue)}`;
};

/** Here null takes a limit away. */
const LIMITS = ".limits.project";

/** Infinity as the largest number: the schema refuses it and names the bound of the key. */
const clamped = (value: unknown): unknown =>
  typeof value === "number" ? Math.max(Math.min(value, Number.MAX_VALUE), -Number.MAX_VALUE) : value;

/** A key without a value is null in YAML and means: not given. */
const withoutNulls = (value: unknown, path = ""): unknown =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value)
          .filter(([, item]) => item !== null || path === LIMITS)
          .map(([key, item]) => [key, withoutNulls(item, `${path}.${key}`)]),
      )
    : path.startsWith(LIMITS)
      ? clamped(value)
      : value;

export const parseConfigFile = (text: string, fileName: string): ConfigFile => {
  const file = parseYamlFile(text, fileName);
  const result = configSchema.safeParse(withoutNulls(file.value ?? {}));
  if (result.success) return { config: result.data, where: file.where };
  // An unknown key is the likeliest cause of the other errors, so it is named first.
  const issues = withoutTypeBounds(result.error.issues);
  const first = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  throw refuseConfig(first === undefined ? `${fileName}: not readable` : explain(first, file));
};
