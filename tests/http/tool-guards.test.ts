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

const WEAKER: Readonly<Record<string, Record<string, unknown>>> = {
  "options.approval": { approval: "never" },
  "options.args.fixed.account": { args: { fixed: { account: "real" } } },
  "options.envs.key": { envs: { key: "OTHER_KEY" } },
  "options.envs.token": { envs: { token: "OTHER_KEY" } },
  "options.control": { control: "allow" },
  "options.pin": { pin: "record" },
  "options.concurrency": { concurrency: 100 },
  "options.rate": { rate: { limit: 500, per_seconds: 60 } },
  "options.timeout_seconds": { timeout_seconds: 600 },
  "options.ui_allowed": { ui_allowed: true },
  "options.secrets_in_url": { secrets_in_url: true },
  "options.retry": { retry: "safe" },
  "options.service": { service: "plain" },
};

/** A service without leases cannot keep the pin. */
const ALSO: Readonly<Record<string, readonly string[]>> = { "options.service": ["options.pin"] };

test("[SEC-guard-2] what would weaken an option waits for a person; calls go on under the accepted version", async () => {
  await using http = await startHttpStack();
  await apply(http, pay({ options: GUARDS }));
  const service = await http.toolToken();
  for (const [index, [field, options]] of Object.entries(WEAKER).entries()) {
    const version = index + 2;
    expect(await apply(http, pay({ options, description: "New" }), service)).toMatchObject({
      status: 202,
      body: { outcome: "pending", version: 1, pending: { version, weakens: [...(ALSO[field] ?? []), field] } },
    });
    const shown = (await http.send("GET", "/projects/demo/tools/pay")).body;
    expect(shown).toMatchObject({ version: 1, description: "Pays", options: GUARDS, pending: { version } });
    expect(shown.pending.changes).toContainEqual(expect.objectContaining({ field }));
    expect(shown.pending.changes).toContainEqual({ field: "description", from: "Pays", to: "New" });
  }
});

test("[SEC-guard-4] a service may be stricter at once, and a schema without room for what is fixed waits", async () => {
  await using http = await startHttpStack();
  await apply(http, pay({ options: { args: { fixed: { account: "sandbox" } } } }));
  const service = await http.toolToken();
  expect(await apply(http, pay({ options: { approval: "required", concurrency: 1 } }), service)).toMatchObject({
    status: 200,
    body: { outcome: "replaced", options: { approval: "required", args: { fixed: { account: "sandbox" } } } },
  });
  const closed = { type: "object", properties: { amount: { type: "number" } }, additionalProperties: false };
  const twin = { type: "object", properties: { Account: { type: "string" } } };
  for (const parameters of [closed, twin])
    expect(await apply(http, pay({ parameters }), service)).toMatchObject({
      status: 202,
      body: { outcome: "pending" },
    });
  expect((await http.send("GET", "/projects/demo/tools/pay")).body).toMatchObject({
    version: 2,
    options: { args: { fixed: { account: "sandbox" } } },
  });
});

test("[SEC-guard-5] an operator accepts the version that was looked at; a tool's token accepts nothing", async () => {
  await using http = await startHttpStack();
  await apply(http, pay({ options: GUARDS }));
  const service = await http.toolToken();
  await apply(http, pay({ options: { approval: "never" } }), service);
  const accept = (body: unknown, token = http.admin) =>
    http.send("POST", "/projects/demo/tools/pay/accept", body, { token });
  // A tool's token reads what waits of its tool, and accepts nothing.
  expect((await http.send("GET", "/projects/demo/tools/pay?pending=true", undefined, { token: service })).status).toBe(
    200,
  );
  expect(await accept({ version: 2 }, service)).toMatchObject({
    status: 403,
    body: { error: { message: "a token of role tool may not do this; it takes admin or operator" } },
  });
  expect((await accept({ version: 7 })).status).toBe(409);
  expect((await http.send("GET", "/projects/demo/tools/pay/versions")).body).toMatchObject({
    items: [
      { version: 2, state: "pending" },
      { version: 1, state: "accepted" },
    ],
    pending: { version: 2, weakens: ["options.approval"] },
  });
  expect(await accept({ version: 2 })).toMatchObject({
    status: 200,
    body: { version: 2, options: { approval: "never", pin: "strict" }, guarded_version: 2 },
  });
  expect((await accept({})).status).toBe(409);
  // What was accepted is the person's word from now on.
  expect(await apply(http, pay({ options: { approval: "never" } }), service)).toMatchObject({
    body: { outcome: "unchanged" },
  });
});

test("[SEC-guard-5] without a version only the one that came since a person last decided is accepted", async () => {
  await using http = await startHttpStack();
  await apply(http, pay({ options: GUARDS }));
  const service = await http.toolToken();
  const accept = (body: unknown) => http.send("POST", "/projects/demo/tools/pay/accept", body);
  const weaker = (options: Record<string, unknown>) => apply(http, pay({ options }), service);
  await weaker({ concurrency: 3 });
  // The person has read version 2; the service goes on.
  await weaker({ approval: "never" });
  const refused = { waiting: 3, came: [3, 2], todo: expect.stringContaining("tools accept pay --version 3") };
  expect(await accept({})).toMatchObject({
    status: 409,
    body: {
      error: { code: "conflict", message: expect.stringMatching(/^versions 3, 2 of pay came/), detail: refused },
    },
  });
  expect((await accept({ version: 2 })).status).toBe(409);
  // A harmless version in between, which is in force at once, hides nothing.
  expect((await apply(http, pay({ description: "Pays faster" }), service)).body).toMatchObject({
    outcome: "replaced",
    version: 4,
  });
  await weaker({ approval: "never" });
  expect((await accept({})).status).toBe(409);
  const { body } = await http.send("GET", "/projects/demo/tools/pay?pending=true");
  const { version } = body.pending as { version: number };
  expect(await accept({ version })).toMatchObject({
    status: 200,
    body: { version, outcome: "accepted", accepted: { version, weakens: ["options.approval"] } },
  });
  // The person has decided; the next one may come without its number.
  await weaker({ concurrency: 9 });
  expect((await accept({})).status).toBe(200);
});

test("[SEC-guard-6] an administrator's token that registers as a service is put under the guards too", async () => {
  await using http = await startHttpStack();
  await apply(http, pay({ options: GUARDS }));
  const asService = (body: unknown) =>
    http.send("POST", "/projects/demo/tools", body, { headers: { "toolplane-register-as": "service" } });
  expect(await asService(pay({ description: "Mine" }))).toMatchObject({ status: 200, body: { options: GUARDS } });
  expect(await asService(pay({ options: { approval: "never" } }))).toMatchObject({ status: 202 });
  // Without it the token is a person's, who replaces everything.
  expect(await apply(http, pay())).toMatchObject({ status: 200, body: { options: {} } });
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
  expect(call).toMatchObject({
    status: 404,
    body: {
      error: {
        message: "project demo has no tool pay; it was deleted",
        detail: { todo: "version 1 waits: toolplane tools accept pay --version 1" },
      },
    },
  });
  expect(
    (await http.send("GET", "/projects/demo/tools/pay?pending=true", undefined, { token: service })).body,
  ).toMatchObject({ status: "deleted", pending: { version: 1, changes: [], weakens: [] } });
  expect((await http.send("GET", "/projects/demo/tools?pending=true")).body.items).toMatchObject([
    { tool_name: "pay", status: "deleted", pending: { source: "service:test" } },
  ]);
  expect((await http.send("POST", "/projects/demo/tools/pay/accept", {})).status).toBe(200);
  expect((await http.send("GET", "/projects/demo/tools/pay")).body).toMatchObject({ status: "active", version: 1 });
});

test("[SEC-guard-9] a schema that no longer takes what a person fixed waits for a person; calls go on under the accepted one", async () => {
  await using http = await startHttpStack();
  await apply(http, pay({ options: GUARDS }));
  const service = await http.toolToken();
  const narrowed = {
    type: "object",
    $defs: { account: { enum: ["real"] } },
    properties: { amount: { type: "number" }, account: { $ref: "#/$defs/account" } },
  };
  const answer = await apply(http, pay({ parameters: narrowed }), service);
  expect(answer.body).toMatchObject({ outcome: "pending", version: 1, pending: { version: 2 } });
  expect((await http.send("GET", "/projects/demo/tools/pay")).body).toMatchObject({ version: 1, options: GUARDS });
  const call = { tool_name: "pay", arguments: { amount: 1 } };
  expect((await http.send("POST", "/projects/demo/calls", call)).body.status).toBe("awaiting_approval");
  // The same again waits no second time, and one that takes the value is in force at once.
  expect((await apply(http, pay({ parameters: narrowed }), service)).body).toMatchObject({
    outcome: "pending",
    version: 1,
    pending: { version: 2 },
  });
  const wider = { ...narrowed, $defs: { account: { enum: ["real", "sandbox"] } } };
  expect((await apply(http, pay({ parameters: wider }), service)).body).toMatchObject({
    outcome: "replaced",
    version: 3,
  });
});
