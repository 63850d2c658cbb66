import { codeOf, fingerprint, startTestEngine, toolUpload } from "@toolplane/testkit";
import { expect, test } from "vitest";

const ask = (projectId: string, more: object = {}) => ({
  projectId,
  toolName: "safe",
  arguments: { a: 1, b: [true, null] },
  idempotencyKey: "key-1",
  ...more,
});

test("[INV-I12] the same key and arguments give the same call, in any key order", async () => {
  await using t = await startTestEngine();
  const first = await t.engine.calls.dispatch(ask(t.projectId));
  const before = await fingerprint(t);
  const again = await t.engine.calls.dispatch(ask(t.projectId, { arguments: { b: [true, null], a: 1 } }));
  expect(again).toEqual({ ...first, idempotent: true });
  expect(await fingerprint(t)).toBe(before);
});

test("[INV-I12-conflict] the same key with other arguments is a conflict and changes nothing", async () => {
  await using t = await startTestEngine();
  await t.engine.calls.dispatch(ask(t.projectId));
  const before = await fingerprint(t);
  expect(await codeOf(t.engine.calls.dispatch(ask(t.projectId, { arguments: { a: 2 } })))).toBe("idempotency_conflict");
  expect(await fingerprint(t)).toBe(before);
});

test("[INV-I12-scope] a key belongs to one project, caller and tool", async () => {
  await using t = await startTestEngine();
  const first = await t.engine.calls.dispatch(ask(t.projectId));
  const otherTool = await t.engine.calls.dispatch(ask(t.projectId, { toolName: "unsafe" }));
  const otherCaller = await t.engine.calls.dispatch(ask(t.projectId, { agentId: "sys.other" }));
  expect(new Set([first.toolCallId, otherTool.toolCallId, otherCaller.toolCallId]).size).toBe(3);
});

test("[INV-I12-redefined] a key survives redefinition, pause and deletion of its tool", async () => {
  await using t = await startTestEngine();
  const first = await t.engine.calls.dispatch(ask(t.projectId));
  const strict = { type: "object", properties: { a: { type: "string" } }, additionalProperties: false };
  await t.engine.tools.upsertTool(t.projectId, { ...toolUpload({ name: "safe" }), parameters: strict });
  expect(await t.engine.calls.dispatch(ask(t.projectId))).toMatchObject({
    toolCallId: first.toolCallId,
    idempotent: true,
  });
  await t.engine.tools.deleteTool(t.projectId, "safe");
  expect(await t.engine.calls.dispatch(ask(t.projectId))).toMatchObject({
    toolCallId: first.toolCallId,
    idempotent: true,
  });
});

test("[INV-I12-race] many at once, on two engines, with one key: one call", async () => {
  await using t = await startTestEngine();
  const other = await t.another();
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? t.engine : other).calls.dispatch(ask(t.projectId))),
  );
  expect(new Set(made.map(({ toolCallId }) => toolCallId)).size).toBe(1);
  expect(made.filter(({ idempotent }) => !idempotent)).toHaveLength(1);
});

test("[INV-I12-raw] what is compared is what the caller sent, before anything is layered onto it", async () => {
  const tools = [{ name: "safe", options: { args: { defaults: { mode: "map" } } } }];
  await using t = await startTestEngine({ tools });
  await t.engine.calls.dispatch(ask(t.projectId, { arguments: {} }));
  expect(await codeOf(t.engine.calls.dispatch(ask(t.projectId, { arguments: { mode: "map" } })))).toBe(
    "idempotency_conflict",
  );
});

test("[API-idempotency-key] a key that is empty, too long or no text is refused", async () => {
  await using t = await startTestEngine();
  for (const idempotencyKey of ["", "x".repeat(256), "\u0000", "\ud800"])
    expect(await codeOf(t.engine.calls.dispatch(ask(t.projectId, { idempotencyKey })))).toBe("bad_request");
});
