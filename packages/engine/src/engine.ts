// The engine, wired: every part gets what it needs, and nothing is decided here.
//
//   const engine = await createEngine({ connection: { connectionString } });
//   const { toolCallId } = await engine.calls.dispatch({ projectId, toolName, arguments });
//   await engine.close();

import type { Bus } from "@toolplane/bus";
import { type JsonObject, PROTOCOL_VERSION, ToolplaneError } from "@toolplane/protocol";
import type { AllowEnv } from "@toolplane/protocol/registry";
import type pg from "pg";
import { type Approvals, createApprovals } from "./approvals/approvals.ts";
import { type Audit, createAudit } from "./audit/audit.ts";
import { type BatchReads, createBatchReads } from "./batches/batch-reads.ts";
import { type Batches, createBatches } from "./batches/batches.ts";
import { createEventLog, type EventLog } from "./bus/event-log.ts";
import { createPostgresBus } from "./bus/postgres-bus.ts";
import { type BusDoorbell, createPostgresDoorbell } from "./bus/postgres-doorbell.ts";
import type { CallKey } from "./calls/call.ts";
import { type Calls, createCalls } from "./calls/calls.ts";
import { createPartEmitter, type Part } from "./calls/emit-parts.ts";
import { type Boxes, createBoxes } from "./cards/boxes.ts";
import { type CardStore, createCardStore } from "./cards/card-store.ts";
import { type Carried, createCarriage } from "./carrier/carriage.ts";
import { type Carrier, REPUBLISH_SECONDS } from "./carrier/carrier.ts";
import { consumeWakeups } from "./carrier/consume-wakeups.ts";
import { setCarrier } from "./carrier/take-over.ts";
import { createDeadLetters, type DeadLetters } from "./dead-letters/dead-letters.ts";
import { createDelegation, type Delegation } from "./delegation/delegation.ts";
import { sendHeldCalls } from "./gates/held-calls.ts";
import type { LimitReads } from "./gates/limit-reads.ts";
import { createLimits } from "./gates/limits.ts";
import { createHistory, type History } from "./history/history.ts";
import { createLineage, type Lineage } from "./lineage/lineage.ts";
import { createLogins, type Logins } from "./logins/logins.ts";
import { stuckMessages } from "./outbox/stuck-messages.ts";
import { createOwnership, type Ownership } from "./ownership/ownership.ts";
import { type CallObserver, nobodyWatches } from "./ports/call-observer.ts";
import { type Clock, systemClock } from "./ports/clock.ts";
import { type Faults, noFaults } from "./ports/faults.ts";
import { createIds, type Ids, sha256 } from "./ports/ids.ts";
import { type Log, silentLog } from "./ports/log.ts";
import { randomSecret } from "./ports/secrets.ts";
import { type AgentProfiles, createAgentProfiles } from "./registry/agent-profiles.ts";
import { type Agents, createAgents } from "./registry/agents.ts";
import { createDefinitions, type Definitions } from "./registry/definition-cache.ts";
import { type CheckProfile, createProfiles, type Profiles } from "./registry/profiles.ts";
import { createProjects, type Projects } from "./registry/projects.ts";
import { createSchemaChecks, type SchemaChecks } from "./registry/schema-checks.ts";
import { type CheckTool, createTools, type Tools } from "./registry/tools.ts";
import { createRetention, type Forgotten, type RetentionPolicy } from "./retention/retention.ts";
import type { TargetKey } from "./sessions/session-targets.ts";
import { createDatabase, type Database, DEFAULT_CONNECTIONS } from "./sql/database.ts";
import { migrate } from "./sql/migrate.ts";
import { createPlaneDepths, type PlaneDepths } from "./stats/plane-depths.ts";
import { DATABASE_NOW } from "./stats/stats.sql.ts";
import { createToolUsage, type ToolUsage } from "./stats/tool-usage.ts";
import { createThreads, type Threads } from "./threads/threads.ts";
import { createTokens, type Tokens } from "./tokens/tokens.ts";
import { createTraces, type Traces } from "./traces/traces.ts";
import { createAgentBells, type PoolServer, silentBells } from "./turns/agent-bells.ts";
import { observeAndRing } from "./turns/ring-on-result.ts";
import type { TendTurns } from "./turns/tend-turns.ts";
import type { Turns } from "./turns/turn.ts";
import { createTurns, type TurnsOptions } from "./turns/turns.ts";
import { createExpire, type Sweep } from "./watchdog/expire.ts";
import { createJobs, SWEEP_LIMIT } from "./watchdog/jobs.ts";
import { startWatchdog, type Watchdog } from "./watchdog/watchdog.ts";
import { createWebhooks, type Webhooks } from "./webhooks/webhooks.ts";

export interface EngineOptions {
  readonly connection: pg.ClientConfig;
  /** The login that owns the tables, for migrations; `connection` applies them unless given. */
  readonly migrationConnection?: pg.ClientConfig | undefined;
  readonly maxConnections?: number | undefined;
  readonly ids?: Ids | undefined;
  readonly clock?: Clock | undefined;
  readonly log?: Log | undefined;
  readonly faults?: Faults | undefined;
  /** Called for every change of a call that this process commits; for display only. */
  readonly observe?: CallObserver | undefined;
  /** How long a service may be silent before its call is taken from it. */
  readonly leaseSeconds?: number | undefined;
  /** How often a `retry: safe` call may lose its service. */
  readonly maxAttempts?: number | undefined;
  /** A bus beside the database that carries messages; without one they travel through the database. */
  readonly carrier?: Carrier | undefined;
  readonly retention?: RetentionPolicy | undefined;
  /** How many calls may be open at once, for all projects together; each has its share, and more are refused. */
  readonly maxOpenCalls?: number | undefined;
  /** False for a process that only reads or for tests that sweep by hand. */
  readonly watchdog?: boolean | undefined;
  /** The target of the tools every project starts with. */
  readonly bundledTarget?: string | undefined;
  /** Definitions every project starts with, beside the protocol's own. */
  readonly bundledTools?: readonly JsonObject[] | undefined;
  readonly turns?: TurnsOptions | undefined;
  /** The threads for foreign documents that may take long; without it a pool of the engine's own. */
  readonly threads?: Threads | undefined;
  /** Which variables tools may name, for every registration; without it only the system's own are refused. */
  readonly allowEnv?: AllowEnv | undefined;
  /** Refuses definitions when they are registered; without it every valid definition is accepted. */
  readonly checkTool?: CheckTool | undefined;
  /** Refuses profiles when they are registered; without it every readable profile is accepted. */
  readonly checkProfile?: CheckProfile | undefined;
}

export interface ServingAgents {
  stop(): Promise<void>;
}

export interface Engine {
  readonly calls: Calls;
  readonly turns: Turns;
  readonly approvals: Approvals;
  readonly cards: CardStore;
  readonly boxes: Boxes;
  readonly projects: Projects;
  readonly tools: Tools;
  readonly definitions: Definitions;
  readonly schemas: SchemaChecks;
  /** For work on foreign documents that may take long. */
  readonly threads: Threads;
  readonly agents: Agents;
  readonly profiles: Profiles;
  readonly tokens: Tokens;
  /** One-time links and sessions of browsers. */
  readonly logins: Logins;
  readonly audit: Audit;
  /** Checks the chains of turns and direct calls, and knows what retention has left of them. */
  readonly history: History;
  /** Everything that came of one request. */
  readonly traces: Traces;
  /** Agents with their profiles, for what their tokens may do. */
  readonly agentProfiles: AgentProfiles;
  /** The owners of turns, calls, cards and boxes. */
  readonly ownership: Ownership;
  /** What agents that manage agents may ask and make. */
  readonly delegation: Delegation;
  readonly batches: Batches;
  readonly batchReads: BatchReads;
  readonly lineage: Lineage;
  readonly deadLetters: DeadLetters;
  readonly webhooks: Webhooks;
  readonly bus: Bus;
  /** What a bus beside the database brings; undefined without one. */
  readonly carried: Carried | undefined;
  readonly events: EventLog;
  readonly doorbell: BusDoorbell;
  readonly db: Database;
  /** The database's clock, in milliseconds: the one every deadline is on. */
  databaseNow(): Promise<number>;
  emitParts(key: CallKey, parts: readonly Part[]): Promise<void>;
  /** Registers a worker for the agents of some pools, which is told when there is work; resolves when rings are heard. */
  serveAgents(server: PoolServer): Promise<ServingAgents>;
  /** A service takes the commands of this pair from the bus beside the database; resolves to the durable's name. */
  attach(served: TargetKey, fetches?: boolean): Promise<string>;
  /** One bounded sweep over the calls that are due; the watchdog does it by itself. */
  expire(limit?: number): Promise<Sweep>;
  /** The same for turns: three bounded sweeps. */
  readonly tendTurns: TendTurns;
  retain(policy: RetentionPolicy, projectId?: string): Promise<Forgotten>;
  /** How much waits, for metrics; remembered for some seconds. */
  depths(): Promise<PlaneDepths>;
  /** What the limits of a project do now. */
  readonly limits: LimitReads;
  /** How a tool did, over its calls that are kept. */
  toolUsage(projectId: string, toolName: string): Promise<ToolUsage>;
  /** Finishes submitted work, then closes the database. */
  close(): Promise<void>;
}

// Of a service on a call, and of a worker on a turn. Long enough for a garbage collection or a slow network, short enough that a dead
// service is noticed while its caller still waits; heartbeats come three times as often.
const LEASE_SECONDS = 15;
const MAX_ATTEMPTS = 5;
/** Longer than a living service pauses before it tries again to reach the plane. */
const LONGEST_GRACE_SECONDS = 15;
// Children of a batch that are made or stopped at once, if that leaves half of the connections to others.
const BATCH_CHILDREN_AT_ONCE = 8;
const STUCK_AFTER_MS = 30_000;

export const createEngine = async (options: EngineOptions): Promise<Engine> => {
  const {
    clock = systemClock,
    log = silentLog,
    faults = noFaults,
    ids = createIds(),
    leaseSeconds = LEASE_SECONDS,
  } = options;
  const { role, applied } = await migrate(options.connection, options.migrationConnection);
  if (applied.length > 0) log.info("migrations were applied to the database", { migrations: applied });
  await options.carrier?.prepare?.();
  const db = createDatabase({ connection: options.connection, role, maxConnections: options.maxConnections, clock });
  const doorbell = createPostgresDoorbell({ db, clock, log });
  const { carrier } = options;
  const republishSeconds = carrier === undefined ? null : (carrier.republishSeconds ?? REPUBLISH_SECONDS);
  const threads = options.threads ?? createThreads({ clock });
  // Where a bus beside the database carries wakeups, they are messages of that bus.
  const bells = carrier === undefined ? createAgentBells(doorbell) : silentBells;
  const schemas = createSchemaChecks(threads);
  const ground = {
    db,
    doorbell,
    ids,
    clock,
    log,
    faults,
    observe: observeAndRing(options.observe ?? nobodyWatches, bells),
    sha256,
    protocolVersion: PROTOCOL_VERSION,
    republishSeconds,
    external: carrier !== undefined,
    bells,
  };

  const cards = createCardStore(ground);
  const boxes = createBoxes({ ...ground, cards });
  const tools = createTools({ ...ground, schemas, allowEnv: options.allowEnv, checkTool: options.checkTool });
  const { bundledTarget, bundledTools } = options;
  const projects = createProjects({ ...ground, tools, bundledTarget, bundledTools });
  const profiles = createProfiles({ ...ground, cards, boxes, checkProfile: options.checkProfile });
  const agents = createAgents({ ...ground, profiles });
  const definitions = createDefinitions({ ...ground, compile: schemas.compile });
  const limits = createLimits({ ...ground, definitions, maxOpen: options.maxOpenCalls });
  const calls = createCalls({
    ...ground,
    ...limits,
    definitions,
    leaseSeconds,
    isFetched: (key) => carriage?.isFetched(key) === true,
  });
  const { settlements, retries, places } = calls;
  const delegation = createDelegation(ground);
  const turns = createTurns({
    ...ground,
    ...limits,
    definitions,
    settlements,
    places,
    options: options.turns,
    leaseSeconds,
    // With a bus beside the database, the project manager learns of ended tasks by their events.
    follow: carrier === undefined ? (turn) => batches.follow(turn) : undefined,
  });
  const atOnce = Math.max(
    Math.min(BATCH_CHILDREN_AT_ONCE, Math.floor((options.maxConnections ?? DEFAULT_CONNECTIONS) / 2)),
    1,
  );
  const batchReads = createBatchReads(db);
  const batches = createBatches({ ...ground, turns, delegation, settlements, atOnce });
  const approvals = createApprovals({ ...ground, calls, settlements, cards, definitions });
  const deadLetters = createDeadLetters({ ...ground, dispatch: calls.dispatch });
  const tokens = createTokens({ ...ground, secret: randomSecret });
  const logins = createLogins({ ...ground, secret: randomSecret });
  const agentProfiles = createAgentProfiles({ ...ground, delegation });
  const carriedBy = carrier === undefined ? "postgres" : "external";
  await setCarrier(db, carriedBy, ids);
  const carriage = carrier === undefined ? undefined : createCarriage({ ...ground, carrier });
  const bus = carriage?.bus ?? createPostgresBus(ground);
  const emitInPieces = createPartEmitter(bus);
  const events = createEventLog(db);
  const webhooks = createWebhooks({ ...ground, events });
  const retain = createRetention(ground);
  const expire = createExpire({
    ...ground,
    settlements,
    retries,
    policy: {
      maxAttempts: options.maxAttempts ?? MAX_ATTEMPTS,
      republishSeconds,
      graceSeconds: Math.min(leaseSeconds, LONGEST_GRACE_SECONDS),
    },
  });
  const stuck = () => stuckMessages({ db, carrier: carriedBy, olderThanMs: STUCK_AFTER_MS });

  const jobs = createJobs({
    ...ground,
    ...{ expire, batches, turns, stuck, webhooks, retain, carriedBy },
    measure: () => limits.admission.measure(),
    retention: options.retention,
    relayStats: () => carriage?.carried.stats().relay,
  });
  const heldCalls = carrier === undefined ? undefined : sendHeldCalls({ ...ground, gates: calls.gates });
  const watchdog: Watchdog | undefined = options.watchdog === false ? undefined : startWatchdog({ jobs, clock, log });

  return {
    calls: carriage?.watch(calls) ?? calls,
    turns,
    approvals,
    cards,
    boxes,
    projects,
    tools,
    definitions,
    schemas,
    threads,
    agents,
    profiles,
    tokens,
    logins,
    audit: createAudit(ground),
    history: createHistory(ground),
    traces: createTraces({ db, calls, turns }),
    agentProfiles,
    ownership: createOwnership(db),
    delegation,
    batches,
    batchReads,
    lineage: createLineage({ db, calls, turns, batches: batchReads }),
    deadLetters,
    webhooks,
    bus,
    carried: carriage?.carried,
    events,
    doorbell,
    db,
    async databaseNow() {
      const [row] = await db.query<{ ms: string }>(DATABASE_NOW);
      return Number(row?.ms);
    },
    async emitParts(key, parts) {
      await emitInPieces(await calls.facts(key), parts);
    },
    async serveAgents(server) {
      if (carriage !== undefined) return consumeWakeups({ bus: carriage.carried, server, log });
      const stop = bells.serve(server);
      return { stop: async () => stop() };
    },
    async attach(served, fetches) {
      if (carriage === undefined)
        throw new ToolplaneError("bad_request", "this plane has no bus beside its database; claim over HTTP");
      return carriage.attach(served, fetches);
    },
    expire: (limit = SWEEP_LIMIT) => expire(limit),
    tendTurns: turns.tend,
    retain,
    depths: createPlaneDepths({ db, clock, carrier: carriedBy }),
    limits: limits.limitReads,
    toolUsage: createToolUsage(db),
    async close() {
      await watchdog?.stop();
      await heldCalls?.stop();
      await carriage?.stop();
      await bus.close();
      await batches.drain();
      await turns.drain();
      await calls.drain();
      await threads.close();
      definitions.close();
      limits.admission.close();
      tokens.close();
      logins.close();
      agentProfiles.close();
      await doorbell.close();
      await db.close();
    },
  };
};
