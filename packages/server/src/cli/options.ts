// Every flag of every command. A flag means the same in every command.

export interface Option {
  readonly type: "string" | "boolean";
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly help: string;
}

export const OPTIONS = {
  // every command
  help: { type: "boolean", help: "show how the command is written" },
  json: { type: "boolean", help: "print JSON for programs" },
  verbose: { type: "boolean", help: "show the stack of an error" },
  url: { type: "string", value: "URL", help: "the server (TOOLPLANE_URL, else the one of the data directory)" },
  token: { type: "string", value: "TOKEN", help: "the token (TOOLPLANE_TOKEN, else the one in the data directory)" },
  data: { type: "string", value: "DIR", help: "the data directory (TOOLPLANE_DATA, else .toolplane)" },
  // most of them
  project: { type: "string", value: "P", help: "the project (TOOLPLANE_PROJECT, else demo)" },
  limit: { type: "string", value: "N", help: "at most so many" },
  cursor: { type: "string", value: "CURSOR", help: "go on after the page that gave this cursor" },
  wait: { type: "string", value: "30s", help: "wait so long for the result" },
  // up
  port: { type: "string", value: "7420", help: "the port to listen on" },
  host: { type: "string", value: "127.0.0.1", help: "the address to listen on" },
  "database-url": { type: "string", value: "URL", help: "your own PostgreSQL instead of the embedded one" },
  "nats-url": { type: "string", value: "URL", help: "NATS as the message bus" },
  roles: { type: "string", value: "api,worker,pmo,tools", help: "which parts to run" },
  config: { type: "string", value: "FILE", help: "the configuration file (toolplane.yaml)" },
  demo: { type: "boolean", help: "make the project demo if it is not there" },
  ephemeral: { type: "boolean", help: "use a throw-away data directory" },
  // call
  agent: { type: "string", value: "A", help: "of this agent; for a call: in its name" },
  key: { type: "string", value: "KEY", help: "idempotency key: the same key is the same call" },
  at: { type: "string", value: "TIME", help: "not before this time (ISO 8601, or +10m)" },
  // lists and actions
  status: { type: "string", value: "STATUS", help: "only those with this status" },
  tool: {
    type: "string",
    value: "TOOL",
    help: "this tool only; for mcp: names with * for any text, separated by commas",
  },
  agents: { type: "string", value: "A,B", help: "offer these agents as the tool run_agent" },
  error: { type: "string", value: "CODE", help: "only those that failed with this code" },
  since: { type: "string", value: "TIME", help: "made at this time or later (ISO 8601, or 10m: so long ago)" },
  until: { type: "string", value: "TIME", help: "made before this time (ISO 8601, or 10m: so long ago)" },
  trace: { type: "string", value: "TRACE", help: "of this trace only" },
  reason: { type: "string", value: "TEXT", help: "the reason, for later readers" },
  as: { type: "string", value: "NAME", help: "the person who decides (else USER, else the token's name)" },
  version: { type: "string", value: "N", help: "this version only" },
  pending: { type: "boolean", help: "only those with a version that waits to be accepted" },
  all: { type: "boolean", help: "all of them; for the audit: of the whole plane (administrators)" },
  title: { type: "string", value: "TEXT", help: "the name people see" },
  follow: { type: "boolean", help: "show steps and text until the agent is done" },
  profile: { type: "string", value: "NAME", help: "the profile of the agent" },
  owner: { type: "string", value: "ID", help: "who owns the project" },
  bare: { type: "boolean", help: "without the bundled tools" },
  force: { type: "boolean", help: "even while calls are open" },
  concurrency: { type: "string", value: "N", help: "at most so many calls at once; none for no limit" },
  rate: { type: "string", value: "50/1s", help: "at most so many calls in so long, also as 50/s; none for no limit" },
  burst: {
    type: "string",
    value: "N",
    help: "with --rate: so many of them at once; without it, or with none, --rate takes a burst of before away",
  },
  breaker: {
    type: "string",
    value: "0.5/60s/30s",
    help: "opens when this share of the runs in so long failed, for so long; none for no breaker",
  },
  queue: { type: "string", value: "N", help: "at most so many calls in the queue; none for no limit" },
  turn: { type: "string", value: "TURN", help: "of this turn only" },
  only: { type: "string", value: "KINDS", help: "only these kinds of events: call,turn,step,state,text,part,other" },
  continue: { type: "string", value: "TURN", help: "go on after this turn: the agent is told what was said in it" },
  "max-steps": { type: "string", value: "N", help: "at most so many steps" },
  "max-tokens": { type: "string", value: "N", help: "at most so many tokens" },
  "max-time": { type: "string", value: "5m", help: "at most so long" },
  after: { type: "string", value: "EVENT_ID", help: "first show what came after this event" },
  // token create
  role: { type: "string", value: "ROLE", help: "admin, operator, agent, tool or viewer" },
  actor: { type: "string", value: "ID", help: "who the token speaks for (tool.<name> for a tool service)" },
  targets: { type: "string", value: "a,b", help: "the targets a tool service serves" },
  ttl: { type: "string", value: "30d", help: "how long it is valid (for ever unless told)" },
  label: { type: "string", value: "TEXT", help: "what it is for" },
  // webhooks create
  events: { type: "string", value: "a,b", help: "the events it is told: call.settled,turn.ended,*" },
  "secret-env": { type: "string", value: "NAME", help: "the variable with its secret (TOOLPLANE_WEBHOOK_SECRET)" },
  // conform
  target: { type: "string", value: "NAME", help: "the target of a tool service; for a list: of its tools only" },
  http: { type: "boolean", help: "the service pulls its work over HTTP" },
  arguments: { type: "string", value: "JSON", help: "arguments the tool takes; an array of two to try both" },
  timeout: { type: "string", value: "10s", help: "how long one answer may take" },
  // init
  language: { type: "string", value: "LANGUAGE", help: "typescript or python (typescript unless told)" },
  packages: { type: "string", value: "DIR", help: "install the packed packages of this folder (npm run pack)" },
  // host check
  "host-config": { type: "string", value: "JSON", help: "the config a tool host is started with" },
} as const satisfies Record<string, Option>;

export type OptionName = keyof typeof OPTIONS;

/** What every command takes besides its own. */
export const GLOBAL_OPTIONS = [
  "json",
  "url",
  "token",
  "data",
  "verbose",
  "help",
] as const satisfies readonly OptionName[];

/** The flags that were given. */
export type Flags = {
  readonly [Name in OptionName]?: (typeof OPTIONS)[Name]["type"] extends "boolean" ? boolean : string;
};
