// A turn with parallel calls and a delegation, as a collector sees it: one tree, with the ids of the protocol.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPlane } from "@toolplane/server";
import { createTestDatabase } from "@toolplane/testkit";
import { expect, test, vi } from "vitest";
import { type ReceivedSpan, startOtlpReceiver } from "./otlp-receiver.ts";

const BOSS = `
name: boss
worker_target: worker_generic
allowed_tools: [echo, sleep, delegate_async]
delegation_policy: { target_profiles: [reader] }
llm_config:
  provider: script
  script:
    steps:
      - call:
          - { tool: echo, arguments: { text: hello } }
          - { tool: sleep, arguments: { seconds: 0 } }
          - { tool: delegate_async, arguments: { target_strategy: new, target_ref: reader, instruction: read } }
      - finish: done
`;
const READER = `
name: reader
worker_target: worker_generic
allowed_tools: [echo]
llm_config:
  provider: script
  script:
    steps:
      - call: { tool: echo, arguments: { text: read } }
      - finish: read
`;

const makeConfig = (): { readonly file: string; remove(): void } => {
  const directory = mkdtempSync(join(tmpdir(), "toolplane-traces-"));
  mkdirSync(join(directory, "profiles"));
  writeFileSync(join(directory, "profiles", "boss.yaml"), BOSS);
  writeFileSync(join(directory, "profiles", "reader.yaml"), READER);
  const file = join(directory, "toolplane.yaml");
  writeFileSync(file, "project: traced\nprofiles: [./profiles/*.yaml]\nagents: [{ agent_id: chief, profile: boss }]\n");
  return { file, remove: () => rmSync(directory, { recursive: true }) };
};

const isOf = (agentId: string, { attributes }: ReceivedSpan): boolean =>
  attributes.some(({ key, value }) => key === "cg.agent_id" && value.stringValue === agentId);

/** The ones whose parent is not among them. */
const rootsOf = (spans: readonly ReceivedSpan[]): readonly ReceivedSpan[] => {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans.filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId));
};

test("[API-otel-4] a turn with parallel calls and a delegation is one connected tree, a direct call another", async () => {
  const database = await createTestDatabase({ name: "traces", migrate: async () => undefined });
  const config = makeConfig();
  try {
    await using receiver = await startOtlpReceiver();
    await using plane = await openPlane({
      databaseUrl: database.url,
      config: config.file,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_BSP_SCHEDULE_DELAY: "20",
        OTEL_SERVICE_NAME: "traced",
      },
    });
    expect(await plane.run("chief", "go").deliverable()).toBe("done");
    const turns = (): readonly ReceivedSpan[] => receiver.spans().filter(({ name }) => name === "turn");
    await vi.waitUntil(
      () => turns().length === 2 && receiver.spans().filter(({ name }) => name === "call echo").length === 2,
    );
    const { traceId } = turns().find((span) => isOf("chief", span)) ?? expect.unreachable("no turn");
    const tree = receiver.spans().filter((span) => span.traceId === traceId);
    expect(rootsOf(tree)).toEqual(turns().filter((span) => isOf("chief", span)));
    expect(new Set(tree.map(({ spanId }) => spanId)).size).toBe(tree.length);
    const counts = new Map<string, number>();
    for (const { name } of tree) counts.set(name, (counts.get(name) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toMatchObject({
      ...{ turn: 2, step: 4, "model call": 4, resume: 2 },
      ...{ "dispatch echo": 2, "dispatch sleep": 1, "dispatch delegate_async": 1 },
      ...{ "call echo": 2, "run echo": 2, "run sleep": 1, "run delegate_async": 1 },
      ...{ queue: 4, lease: 4, settle: 4 },
    });
    for (const { startTimeUnixNano, endTimeUnixNano } of tree)
      expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true);
    await plane.call("echo", { text: "alone" });
    const direct = (): readonly ReceivedSpan[] => receiver.spans().filter((span) => span.traceId !== traceId);
    await vi.waitUntil(() => direct().length === 6);
    expect(rootsOf(direct()).map(({ name }) => name)).toEqual(["dispatch echo"]);
    expect(JSON.stringify(receiver.spans())).not.toContain("alone");
  } finally {
    config.remove();
    await database.drop();
  }
});
