// `toolplane conform`: plays the plane for a foreign tool service, over HTTP or on a NATS server, and says, clause by clause,
// whether it keeps the protocol. Exit code 0: nothing failed; 1: a clause failed; 2: wrong usage; 3: the service never asked for
// work.

import { isToken } from "@toolplane/protocol";
import { isToolName } from "@toolplane/protocol/registry";
import type { CliIo } from "../cli/io.ts";
import { createOutput, type Output } from "../cli/output.ts";
import { WrongUsage } from "../cli/wrong-usage.ts";
import { chooseTool } from "./choose-tool.ts";
import type { Transport } from "./clauses.ts";
import type { Evidence } from "./evidence.ts";
import { type JudgedClause, judgeClauses } from "./judges/index.ts";
import { type Connection, connectionLines } from "./launch-command.ts";
import { formatClauses, formatSummary, reportBody } from "./report.ts";
import { runScenarios } from "./run-scenarios.ts";
import { parseArguments } from "./sample-arguments.ts";
import type { LaunchedService } from "./service-life.ts";
import { createSession } from "./session.ts";
import { countVerdicts } from "./verdict-lines.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

export interface ConformOptions {
  readonly target: string;
  /** Over HTTP, on a loopback port of our own. */
  readonly http: boolean;
  /** Over NATS, on a server that is there. */
  readonly natsUrl?: string | undefined;
  /** 0 or nothing: any free one. */
  readonly port?: number | undefined;
  readonly tool?: string | undefined;
  /** JSON text: an object, or an array of two. */
  readonly arguments?: string | undefined;
  readonly json?: boolean | undefined;
  readonly verbose?: boolean | undefined;
  /** How long one answer may take. */
  readonly timeoutMs?: number | undefined;
  /** The service's command line; empty when the user starts it. */
  readonly command?: readonly string[] | undefined;
  /** A function that starts the service, instead of a command line. */
  readonly launch?: ((connection: Connection) => Promise<LaunchedService>) | undefined;
  /** How long the service may take to claim for the first time. */
  readonly connectMs?: number | undefined;
  /** The lease of the calls that wait for a heartbeat. */
  readonly leaseMs?: number | undefined;
}

const CONFORM_EXIT = { ok: 0, failed: 1, neverConnected: 3 } as const;

const PROJECT = "conform";
const DEFAULT_TIMEOUT_MS = 10_000;
/** Long enough for an interpreter that starts on a busy machine. */
const LEAST_CONNECT_MS = 15_000;
/** Long enough for a person to copy three lines into another terminal. */
const BY_HAND_CONNECT_MS = 300_000;
/** Services renew after a third or half of a lease, some not more often than every second. */
const LEASE_MS = 3_000;

const checkOptions = ({ target, http, natsUrl, tool, arguments: given }: ConformOptions): void => {
  if (http === (natsUrl !== undefined))
    throw new WrongUsage("say how the service talks to the plane: --http, or --nats-url URL", "conform");
  if (!isToken(target)) throw new WrongUsage("--target takes the name the service claims for, such as text", "conform");
  if (tool !== undefined && !isToolName(tool))
    throw new WrongUsage(`"${tool}" cannot be the name of a tool`, "conform");
  if (given !== undefined) parseArguments(given);
};

/** Why no request for work came, as far as it can be told. */
const explainSilence = ({ plane, life, connection }: Workbench, target: string): string => {
  const { claims, requests } = plane.seen();
  const other = claims.find((claim) => claim.target !== target);
  if (other !== undefined) return `the service claims for target ${other.target}, not for ${target}`;
  const ended = life.ended();
  if (ended !== undefined) return `the service ${ended} before it asked for work`;
  return requests.length === 0
    ? `the service never connected: it reads ${Object.keys(connection.variables).join(", ")}`
    : "the service connected but never claimed";
};

const print = (output: Output, judged: readonly JudgedClause[], evidence: Evidence): void => {
  output.progress("");
  if (output.json) {
    output.data(reportBody(judged, evidence));
    return;
  }
  for (const line of formatClauses(judged)) output.line(line);
  output.line("");
  output.line(formatSummary(judged, evidence));
};

export const runConform = async (options: ConformOptions, io: CliIo): Promise<number> => {
  checkOptions(options);
  const { target, timeoutMs = DEFAULT_TIMEOUT_MS, command = [], launch } = options;
  const output = createOutput(io, options.json === true);
  const isOurs = launch !== undefined || command.length > 0;
  const connectMs = options.connectMs ?? (isOurs ? Math.max(timeoutMs, LEAST_CONNECT_MS) : BY_HAND_CONNECT_MS);
  const verbose = options.verbose === true;
  const { natsUrl } = options;
  const transport: Transport = natsUrl === undefined ? "http" : "nats";
  const place = { projectId: PROJECT, target };
  const mayOnlyListen = natsUrl !== undefined && options.tool !== undefined && options.arguments !== undefined;
  await using bench = await openWorkbench(
    { ...place, port: options.port ?? 0, natsUrl, mayOnlyListen, command, launch, verbose, connectMs },
    io,
  );
  const { plane, door, watch, life, words } = bench;

  const stoppedEarly = (): number => {
    output.note("toolplane: stopped before the end");
    return CONFORM_EXIT.failed;
  };
  const noteLastWords = (): void => {
    for (const line of verbose ? [] : words.lines()) output.note(line);
  };

  if (!isOurs) {
    const say = output.json ? output.note : output.line;
    for (const line of connectionLines(bench.connection)) say(line);
    output.note(`start the service with these variables; it must claim for target ${target}`);
  }
  const connected = await bench.start();
  if (life.isGivenUp()) return stoppedEarly();
  if (!connected) {
    output.note(`toolplane: ${explainSilence(bench, target)}`);
    noteLastWords();
    return CONFORM_EXIT.neverConnected;
  }

  const { name: toolName, targetSubject, samples, service } = chooseTool(options, plane.shelf.tools());
  const session = createSession({
    transport,
    plane,
    door,
    watch,
    life,
    place: { ...place, toolName, targetSubject, uuid: io.uuid, now: io.now },
    samples,
    timeoutMs,
    leaseMs: options.leaseMs ?? LEASE_MS,
  });
  const troubles = await runScenarios({
    session,
    life,
    restart: bench.restart,
    onScenario: ({ name }) => output.progress(`trying: ${name}`),
  });
  if (life.isGivenUp()) return stoppedEarly();

  const argumentsDiffer = samples.second !== undefined;
  const evidence: Evidence = { ...plane.seen(), ...place, transport, toolName, service, argumentsDiffer };
  const judged = judgeClauses(evidence, troubles);
  print(output, judged, evidence);
  if (troubles.fatal.size > 0) noteLastWords();
  return countVerdicts(judged).fail === 0 ? CONFORM_EXIT.ok : CONFORM_EXIT.failed;
};
