// Every document of the corpus through its real door: it is refused before anything is built of it, or handed to a thread.
// The threads here take note of what they are given and do none of it, so that nothing has to be waited for; what real
// ones make of the same documents is in tests/long/stall.long.ts and threads.test.ts.

import type { Threads } from "@toolplane/engine";
import type { ThreadTask } from "@toolplane/engine/internal";
import { ToolplaneError } from "@toolplane/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTILE, type Hostile } from "../stall/corpus.ts";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let given: ThreadTask[] = [];

/** A schema alone is accepted, so that there is a tool to call; everything else takes too long. */
const threads: Threads = {
  run: async <Output>(task: ThreadTask): Promise<Output> => {
    given.push(task);
    if (task.what === "reading the schema") return [] as Output;
    throw new ToolplaneError("bad_request", `${task.what} takes longer than 5 s`);
  },
  stats: () => ({ started: 0, cutOff: 0, turnedAway: 0, waiting: 0, threads: 0, ending: 0 }),
  close: async () => undefined,
};

let stack: HttpStack;
let token: string;
beforeAll(async () => {
  stack = await startHttpStack({ threads });
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
    case "call": {
      const upload = definition(`hostile_${++count}`, item.parameters);
      await t.engine.tools.upsertTool(t.projectId, upload);
      given = [];
      return send("POST", `${path}/calls`, { tool_name: upload.tool_name, arguments: item.arguments });
    }
    case "batch":
      return send("POST", `${path}/calls/batch`, item.text);
    case "result":
      return send("POST", `${path}/calls/any/result`, item.text, { token });
  }
};

/** What a thread is asked to do at each door. */
const WORK = {
  yaml: "reading the YAML",
  tool: "reading the schema",
  call: "checking the value against the schema",
  batch: undefined,
  result: undefined,
} as const;

/** What is refused unread. A result stands for itself: its call settles without it, and this one does not exist. */
const TOO_LARGE = { error: { code: "payload_too_large" } };
const REFUSED = {
  yaml: { status: 413, body: TOO_LARGE },
  tool: { status: 413, body: TOO_LARGE },
  call: { status: 413, body: TOO_LARGE },
  batch: { status: 200, body: { items: [TOO_LARGE] } },
  result: { status: 404, body: { error: { code: "not_found" } } },
} as const;

describe("hostile documents", () => {
  test("[STALL-6] there are at least forty of them", () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(40);
    expect(new Set(HOSTILE.map(({ name }) => name)).size).toBe(HOSTILE.length);
  });

  test.each(HOSTILE.map((item) => [`${item.door}: ${item.name}`, item] as const))(
    "[STALL-6] %s does not run on the event loop",
    async (_title, item) => {
      given = [];
      const answer = await throwAt(item);
      if (item.fate === "thread") {
        expect(given).toMatchObject([{ what: WORK[item.door], tenant: stack.t.projectId }]);
        expect(answer.status).toBe(item.door === "tool" ? 201 : 400);
      } else {
        expect(given).toEqual([]);
        expect(answer).toMatchObject(REFUSED[item.door]);
      }
    },
  );
});
