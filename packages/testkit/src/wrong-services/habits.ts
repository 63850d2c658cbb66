// What a tool service does, taken apart into habits: the right ones, each replaceable by a wrong one. A wrong service is the
// right service with one habit changed, so what it does wrong can be read in one line.

export type Json = Readonly<Record<string, unknown>>;

export interface Command {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: unknown;
  readonly lease: { readonly id: string; readonly expires_at: string };
}

export interface Outcome {
  readonly status: string;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The checks before a tool runs; a service without one of these lets that fault pass. */
export type Check =
  | "headers agree"
  | "headers can be read"
  | "payload is complete"
  | "payload is an object"
  | "no inline data"
  | "no identity"
  | "card is named"
  | "card is there"
  | "card is a tool.call"
  | "card is this call's"
  | "content is a call";

const ALL_CHECKS: ReadonlySet<Check> = new Set<Check>([
  "headers agree",
  "headers can be read",
  "payload is complete",
  "payload is an object",
  "no inline data",
  "no identity",
  "card is named",
  "card is there",
  "card is a tool.call",
  "card is this call's",
  "content is a call",
]);

/** What a service does that fetches its commands from NATS, beyond what every service does. */
export interface NatsHabits {
  /** `leased` fetches and leases; `plain` listens on the subject and takes no leases. */
  readonly mode: "leased" | "plain";
  /** When a command is acknowledged. */
  readonly acknowledges: "when leased" | "first" | "never";
  /** For a call whose lease was refused because another service holds it. */
  readonly onHeld: "forget" | "run";
  /** For a call whose lease was refused because it is not due. */
  readonly onLater: "give back" | "forget";
  /** A command of another project: given back, acknowledged, or leased over there. */
  readonly onForeign: "give back" | "take" | "lease there";
  readonly renews: boolean;
  /** The actor of a request. */
  actor(target: string, operation: string): string;
  /** The last change to the headers of a request. */
  shapeQuestion(headers: Readonly<Record<string, string>>, operation: string): Readonly<Record<string, string>>;
  /** Published once at the start, beyond what a service needs. */
  publishes(project: string): readonly string[];
}

export interface Habits {
  readonly nats: NatsHabits;
  /** Results in one step, or as a card and a report. */
  readonly steps: "one" | "two";
  readonly checks: ReadonlySet<Check>;
  /** Calls claimed at once. */
  readonly claimSize: number;
  readonly remembers: { readonly running: boolean; readonly ended: boolean };
  /** Renews leases while it works; heeds what the answers say. */
  readonly heeds: { readonly cancel: boolean; readonly loss: boolean };
  authorization(token: string): Readonly<Record<string, string>>;
  /** Requests beyond those a service needs, made once at the start. */
  extraWrites(project: string): readonly { readonly path: string; readonly body: Json }[];
  definitions(target: string): readonly Json[];
  /** Which of the claimed commands are started. */
  start(commands: readonly Command[]): readonly Command[];
  callIdOf(command: Command): string | undefined;
  /** For a command that names no call: no caller can be told. */
  onNameless(command: Command): "drop" | "die" | "run" | "refuse";
  /** A command or card with a fault. */
  onFault(fault: string): "refuse" | "give back" | "drop";
  /** To which call the result is sent. */
  addressOf(command: Command, callId: string): string;
  /** Refusals beyond the checks. */
  fault(payload: unknown): string | undefined;
  run(args: Json, runs: number): unknown;
  shapeOutcome(outcome: Outcome, command: Command): Outcome;
  /** The last change to what is sent: a one-step body, a card, a callback, the headers. */
  shapeBody(body: Json, command: Command): Json;
  shapeCard(card: Json, command: Command): Json;
  shapeCallback(callback: Json, outcome: Outcome): Json;
  shapeHeaders(headers: Readonly<Record<string, string>>, command: Command): Readonly<Record<string, string>>;
  /** What to do after an answer to a result. */
  afterAnswer(status: number): "done" | "again" | "die";
  cardBeforeReport: boolean;
  /** For a card that is refused because one exists: the existing one is reported. */
  readonly reusesStanding: boolean;
  /** What to do when a claim fails. */
  afterBadClaim(): "again" | "die";
}

const TOOL = "count_words";

export const definitionOf = (target: string, changes: Json = {}): Json => ({
  tool_name: TOOL,
  description: "Counts the words of a text",
  target_subject: `cg.v1r4.{project_id}.{channel_id}.cmd.tool.${target}.${TOOL}`,
  after_execution: "suspend",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  ...changes,
});

export const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const payloadOf = ({ payload }: Command): Json => (isRecord(payload) ? payload : {});

export const RIGHT_NATS_HABITS: NatsHabits = {
  mode: "leased",
  acknowledges: "when leased",
  onHeld: "forget",
  onLater: "give back",
  onForeign: "give back",
  renews: true,
  actor: (target) => target,
  shapeQuestion: (headers) => headers,
  publishes: () => [],
};

export const RIGHT_HABITS: Habits = {
  nats: RIGHT_NATS_HABITS,
  steps: "one",
  checks: ALL_CHECKS,
  claimSize: 4,
  remembers: { running: true, ended: true },
  heeds: { cancel: true, loss: true },
  authorization: (token) => ({ authorization: `Bearer ${token}` }),
  extraWrites: () => [],
  definitions: (target) => [definitionOf(target)],
  start: (commands) => commands,
  callIdOf: ({ headers }) => headers["CG-Tool-Call-Id"],
  onNameless: () => "drop",
  onFault: () => "refuse",
  addressOf: (_command, callId) => callId,
  fault: () => undefined,
  run: ({ text }) => ({
    words: String(text ?? "")
      .split(" ")
      .filter(Boolean).length,
  }),
  shapeOutcome: (outcome) => outcome,
  shapeBody: (body) => body,
  shapeCard: (card) => card,
  shapeCallback: (callback) => callback,
  shapeHeaders: (headers) => headers,
  afterAnswer: (status) => (status >= 500 ? "again" : "done"),
  cardBeforeReport: true,
  reusesStanding: true,
  afterBadClaim: () => "again",
};

export const without = (left: Check): ReadonlySet<Check> => new Set([...ALL_CHECKS].filter((check) => check !== left));
