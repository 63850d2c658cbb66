// A tool's token against what an operator decided: what it registers changes its own part at once, and nothing else.

import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const subject = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.pay";

const pay = (changes: Record<string, unknown> = {}) => ({
  tool_name: "pay",
  description: "Pays",
  target_subject: subject,
  after_execution: "suspend",
  parameters: { type: "object", properties: { amount: { type: "number" }, account: { type: "string" } } },
  ...changes,
});

const GUARDS = {
  approval: "required",
  args: { fixed: { account: "sandbox" } },
  envs: { key: "PAY_KEY" },
  pin: "strict",
  concurrency: 2,
  rate: { limit: 5, per_seconds: 60 },
  timeout_seconds: 10,
};

const apply = (http: HttpStack, body: unknown, token = http.admin) =>
  http.send("POST", "/projects/demo/tools", body, { token });

test("[SEC-guard-1] a tool's token that leaves an operator's guards out registers its own part under them", async () => {
  await using http = await startHttpStack();
  await apply(http, pay({ options: GUARDS }));
  const service = await http.toolToken();
  const answer = await apply(http, pay({ description: "Pays faster", after_execution: "terminate" }), service);
  expect(answer).toMatchObject({ status: 200, body: { outcome: "replaced", version: 2, description: "Pays faster" } });
  expect((await http.send("GET", "/projects/demo/tools/pay")).body).toMatchObject({
    version: 2,
    after_execution: "terminate",
    options: GUARDS,
  });
  const call = await http.send("POST", "/projects/demo/calls", {
    tool_name: "pay",
    arguments: { amount: 1, account: "real", ACCOUNT: "real" },
  });
  expect(call.body.status).toBe("awaiting_approval");
  const waiting = (await http.send("GET", "/projects/demo/approvals")).body.items;
  expect(waiting[0]?.arguments).toEqual({ amount: 1, account: "sandbox" });
  // Saying the same again changes nothing.
  expect(await apply(http, pay({ description: "Pays faster", after_execution: "terminate" }), service)).toMatchObject({
    body: { outcome: "unchanged", version: 2 },
  });
});

test.each([
  ["options.approval", { approval: "never" }],
  ["options.args.fixed.account", { args: { fixed: { account: "real" } } }],
  ["options.envs.key", { envs: { key: "OTHER_KEY" } }],
  ["options.envs.token", { envs: { token: "OTHER_KEY" } }],
  ["options.control", { control: "allow" }],
  ["options.pin", { pin: "record" }],
  ["options.concurrency", { concurrency: 100 }],
  ["options.rate", { rate: { limit: 500, per_seconds: 60 } }],
  ["options.timeout_seconds", { timeout_seconds: 600 }],
  ["options.ui_allowed", { ui_allowed: true }],
  ["options.secrets_in_url", { secrets_in_url: true }],
  ["options.retry", { retry: "safe" }],
  ["options.service", { service: "plain" }],
])("[SEC-guard-2] what would weaken %s waits for a person; calls go on under the accepted version", async (field, options) => {
  await using http = await startHttpStack();
  await apply(http, pay({ options: GUARDS }));
  const answer = await apply(http, pay({ options: { ...options }, description: "New" }), await http.toolToken());
  expect(answer).toMatchObject({
    status: 202,
    body: { outcome: "pending", version: 1, pending: { version: 2, weakens: [field] } },
  });
  const shown = (await http.send("GET", "/projects/demo/tools/pay")).body;
  expect(shown).toMatchObject({ version: 1, description: "Pays", options: GUARDS, pending: { version: 2 } });
  expect(shown.pending.changes).toContainEqual(expect.objectContaining({ field }));
  expect(shown.pending.changes).toContainEqual({ field: "description", from: "Pays", to: "New" });
});

test("[SEC-guard-3] a tool an operator deleted stays deleted when its service registers it again", async () => {
  await using http = await startHttpStack();
  const service = await http.toolToken();
  await apply(http, pay(), service);
  expect((await http.send("DELETE", "/projects/demo/tools/pay")).status).toBe(204);
  const answer = await apply(http, pay(), service);
  expect(answer).toMatchObject({ status: 202, body: { outcome: "pending", status: "deleted" } });
  expect((await http.send("GET", "/projects/demo/tools/pay")).status).toBe(404);
  const call = await http.send("POST", "/projects/demo/calls", { tool_name: "pay", arguments: {} });
  expect(call.status).toBe(404);
});
