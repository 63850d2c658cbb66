// What is measured: an engine on a server of its own that syncs to disk, a project, two tools, agents in a turn.

import { createEngine, type Engine, type Work } from "@toolplane/engine";
import { createDatabase, type Database } from "@toolplane/engine/internal";
import { startDebianPostgres, startTestPostgres, type TestPostgres, toolUpload } from "@toolplane/testkit";
import { FIND_PROJECT, MAKE_AGENTS } from "./scene.sql.ts";

export const PROJECT = "bench";
export const TARGET = "text";
export const AGENTS = 12_000;
export const POOL = 10;

export type ToolName = "count_words" | "send_words";

/** `count_words` may run again after a crash, `send_words` may not. */
const TOOLS = [
  { name: "count_words", retry: "safe" },
  { name: "send_words", retry: "never" },
] as const;

const PARAMETERS = {
  type: "object",
  properties: { text: { type: "string" }, language: { type: "string" } },
  required: ["text"],
};

// A sentence or two: what a model typically passes to a tool.
export const ARGUMENTS = {
  text: "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.",
  language: "en",
};
export const RESULT = { status: "success", result: { words: 24, characters: 113, language: "en" } } as const;

/** The right to think for the n-th agent, from 1, as the scene was made; the engine asks for nothing but the names. */
export const thinkingWork = (n: number): Work => {
  const agentId = `agent_${String(n).padStart(6, "0")}`;
  return {
    projectId: PROJECT,
    agentId,
    agentTurnId: `turn_${agentId}`,
    kind: "turn",
    inboxId: `inbox_${agentId}`,
    claimId: `claim_${agentId}`,
    turnEpoch: 1,
    stepCount: 0,
    channelId: "public",
    recursionDepth: 0,
    traceId: "",
    traceparent: "",
    profileBoxId: "profile",
    contextBoxId: "context",
    outputBoxId: `output_${agentId}`,
    payload: {},
    runtimeConfig: {},
    metadata: {},
    inboxCreatedAtMs: 0,
    claimedAtMs: 0,
    turnCreatedAtMs: 0,
    turnDispatchedAtMs: 0,
  };
};

export interface ServerOptions {
  /** Debian's server of that major version instead of the one npm brings. */
  readonly major?: number | undefined;
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

export const startServer = ({ major, settings }: ServerOptions): Promise<TestPostgres> => {
  const options = { sync: true, settings: { ...settings } };
  return major === undefined ? startTestPostgres(options) : startDebianPostgres({ ...options, major });
};

export interface Scene extends AsyncDisposable {
  readonly engine: Engine;
  /** For the measuring itself: statements here are not the engine's. */
  readonly aside: Database;
}

export const openScene = async (url: string): Promise<Scene> => {
  const connection = { connectionString: url };
  const engine = await createEngine({ connection, maxConnections: POOL });
  const aside = createDatabase({ connection, maxConnections: 1 });
  const known = await aside.query({ name: "", text: FIND_PROJECT }, [PROJECT]);
  if (known.length === 0) {
    await engine.projects.createProject({ project_id: PROJECT, title: "Bench", bootstrap: false }, "sys.bench");
    for (const { name, retry } of TOOLS) {
      const upload = toolUpload({ name, target: TARGET, parameters: PARAMETERS, options: { retry } });
      await engine.tools.upsertTool(PROJECT, upload);
    }
    await aside.query({ name: "", text: MAKE_AGENTS }, [PROJECT, AGENTS, "pool"]);
  }
  return {
    engine,
    aside,
    async [Symbol.asyncDispose]() {
      await engine.close();
      await aside.close();
    },
  };
};
