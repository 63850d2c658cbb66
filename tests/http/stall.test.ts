// Every document of the corpus through its real door: it is refused before anything is built of it, or a thread has it.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { HOSTILE, type Hostile } from "../stall/corpus.ts";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let stack: HttpStack;
let token: string;
beforeAll(async () => {
  // The shorter the limit, the sooner a document that would take minutes is done with.
  stack = await startHttpStack({ threadLimitMs: 1_500 });
  token = await stack.toolToken();
});
afterAll(() => stack[Symbol.asyncDispose]());

const definition = (name: string, parameters: unknown) => ({
  tool_name: name,
  parameters,
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.run",
  after_execution: "suspend",
});

let count = 0;
const throwAt = async (item: Hostile) => {
  const { send, t } = stack;
  const path = `/projects/${t.projectId}`;
  switch (item.door) {
    case "yaml":
      return send("POST", `${path}/tools`, item.text, { token, headers: { "content-type": "application/yaml" } });
    case "tool":
      return send("POST", `${path}/tools`, definition(`hostile_${++count}`, item.parameters), { token });
    case "call":
      return send("POST", `${path}/calls`, { tool_name: `hostile_${count}`, arguments: item.arguments });
    case "batch":
      return send("POST", `${path}/calls/batch`, item.text);
    case "result":
      return send("POST", `${path}/calls/any/result`, item.text, { token });
  }
};

describe("hostile documents", () => {
  test("[STALL-6] there are at least forty of them", () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(40);
    expect(new Set(HOSTILE.map(({ name }) => name)).size).toBe(HOSTILE.length);
  });

  test.each(HOSTILE.map((item) => [`${item.door}: ${item.name}`, item] as const))(
    "[STALL-6] %s does not run on the event loop",
    async (_title, item) => {
      if (item.door === "call") {
        const upload = definition(`hostile_${++count}`, item.parameters);
        // On a busy machine the short limit of this test refuses an honest registration now and then.
        await vi.waitFor(() => stack.t.engine.tools.upsertTool(stack.t.projectId, upload), { timeout: 30_000 });
      }
      const before = stack.t.engine.threads.stats().started;
      const answer = await throwAt(item);
      const inThread = stack.t.engine.threads.stats().started > before;
      if (item.fate === "thread") expect(inThread).toBe(true);
      else {
        expect(inThread).toBe(false);
        expect(answer).toMatchObject({ status: 413, body: { error: { code: "payload_too_large" } } });
      }
      expect(answer.status).toBeLessThan(500);
    },
  );
});
