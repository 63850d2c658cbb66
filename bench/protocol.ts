// What the wire language costs per message: `npx node --conditions=source bench/protocol.ts`.
// Rounds are interleaved, so a busy neighbour or a warming compiler hits every case alike. Each operation is timed on its
// own; a timer costs some 50 nanoseconds, which is inside every number below.

import { cpus } from "node:os";
import {
  canonicalText,
  cardText,
  createToolCallCard,
  ingress,
  parseCommandPayload,
  parseSubject,
  planArguments,
} from "@toolplane/protocol";
import { parseToolDefinition } from "@toolplane/protocol/registry";

const ROUNDS = 40;
const OPERATIONS_PER_ROUND = 2_000;
const WARM_UP_ROUNDS = 5;

/** The gate every message passes; above this a 2-core machine could not carry its share of commands. */
const INGRESS_TARGET_MICROSECONDS = 20;

const IDS = { traceId: () => "0190a5b46c1e7d3a9f000123456789ab", spanId: () => "00f067aa0ba902b7" };

const MESSAGE = {
  subject: "cg.v1r4.proj_0123456789ab.u_42.cmd.tool.text.count_words",
  headers: {
    "CG-Project-Id": "proj_0123456789ab",
    "CG-Channel-Id": "u_42",
    "CG-Agent-Id": "researcher_0190a5b46c1e7d3a9f000123456789ab",
    "CG-Turn-Id": "turn_0190a5b46c1e7d3a9f000123456789ab",
    "CG-Turn-Epoch": "7",
    "CG-Step-Id": "step_0190a5b46c1e7d3a9f000123456789ab",
    "CG-Tool-Call-Id": "tc_0190a5b46c1e7d3a9f000123456789ab",
    "CG-Parent-Agent-Id": "boss",
    "CG-Parent-Turn-Id": "turn_0190a5b46c1e7d3a9f000123456789ff",
    "CG-Parent-Step-Id": "step_0190a5b46c1e7d3a9f000123456789ff",
    "CG-Recursion-Depth": "2",
    "CG-Timestamp": "1767225600000",
    "CG-Version": "v1r4",
    "CG-Msg-Type": "ToolCommand",
    "CG-Sender": "toolplane",
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  },
  payload: {
    tool_call_card_id: "0190a5b46c1e7d3a9f000123456789ab",
    tool_name: "count_words",
    after_execution: "suspend",
  },
};

const definition = parseToolDefinition(
  {
    tool_name: "search",
    target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.web.search",
    after_execution: "suspend",
    parameters: {
      type: "object",
      properties: { q: { type: "string" }, limit: { type: "integer" }, project_id: { type: "string" } },
    },
    options: {
      args: {
        defaults: { session_id: "{agent_turn_id}", limit: 10 },
        fixed: { project_id: "{project_id}", source: "agent {agent_id}, step {step_id}" },
      },
      envs: { api_key: "SEARCH_API_KEY" },
    },
  },
  { projectId: "proj_0123456789ab", version: "v1r4", compileSchema: () => () => [] },
);

const RAW_ARGUMENTS = JSON.stringify({
  q: "how to count words in a text",
  lang: "en",
  filters: { site: "example.com" },
});

const VARIABLES = {
  project_id: "proj_0123456789ab",
  agent_id: "researcher",
  agent_turn_id: "turn_0190a5b46c1e7d3a9f000123456789ab",
  step_id: "step_0190a5b46c1e7d3a9f000123456789ab",
};

const card = createToolCallCard({
  cardId: "0190a5b46c1e7d3a9f000123456789ab",
  projectId: "proj_0123456789ab",
  createdAt: "2026-01-01T00:00:00.000Z",
  authorId: "researcher",
  agentTurnId: "turn_0190a5b46c1e7d3a9f000123456789ab",
  toolCallId: "tc_0190a5b46c1e7d3a9f000123456789ab",
  toolName: "search",
  arguments: {
    q: "how to count words",
    hits: Array.from({ length: 12 }, (_, i) => ({
      title: `Result number ${i}`,
      url: `https://example.com/${i}`,
      score: i / 7,
      tags: ["a", "b"],
    })),
    note: "x".repeat(400),
  },
});

interface Case {
  readonly name: string;
  readonly run: () => unknown;
  readonly targetMicroseconds?: number;
}

const validate = (): readonly [] => [];

const CASES: readonly Case[] = [
  {
    name: "ingress + command payload",
    targetMicroseconds: INGRESS_TARGET_MICROSECONDS,
    run: () => {
      const { headers, payload } = MESSAGE;
      return parseCommandPayload(ingress({ subject: parseSubject(MESSAGE.subject), headers, payload }, IDS).payload);
    },
  },
  { name: `canonical text, ${cardText(card).length} byte card`, run: () => canonicalText(card) },
  {
    name: "layering (schema check left out)",
    run: () => planArguments({ definition, rawArguments: RAW_ARGUMENTS, variables: VARIABLES, validate }),
  },
];

/** Keeps the compiler from dropping work whose result is not used. */
let sink: unknown;

const runRound = ({ run }: Case, samples: number[] | undefined): void => {
  for (let i = 0; i < OPERATIONS_PER_ROUND; i++) {
    const start = performance.now();
    sink = run();
    const elapsed = (performance.now() - start) * 1000;
    samples?.push(elapsed);
  }
};

const quantile = (sorted: Float64Array, q: number): number => sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN;

const samplesOf = new Map<Case, number[]>(CASES.map((each) => [each, []]));
for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
  for (const each of CASES) runRound(each, round < 0 ? undefined : samplesOf.get(each));
}

console.log(
  `node ${process.version}, ${cpus().length} cpus, ${ROUNDS} rounds of ${OPERATIONS_PER_ROUND}, microseconds`,
);
let missed = false;
for (const [{ name, targetMicroseconds }, samples] of samplesOf) {
  const sorted = Float64Array.from(samples).sort();
  const total = sorted.reduce((sum, value) => sum + value, 0);
  const median = quantile(sorted, 0.5);
  const late = targetMicroseconds !== undefined && median >= targetMicroseconds;
  missed ||= late;
  const columns = [
    name.padEnd(34),
    `${Math.round((samples.length / total) * 1e6)} ops/s`.padStart(16),
    `median ${median.toFixed(2)}`.padStart(14),
    `p99 ${quantile(sorted, 0.99).toFixed(2)}`.padStart(12),
  ];
  const verdict =
    targetMicroseconds === undefined ? "" : `  target < ${targetMicroseconds}: ${late ? "MISSED" : "met"}`;
  console.log(columns.join("") + verdict);
}
process.exitCode = missed || sink === undefined ? 1 : 0;
