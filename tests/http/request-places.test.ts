// One project that asks for much does not keep the others from the database.

import { countStatements, withTestClient } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack();
  expect((await http.send("POST", "/projects", { project_id: "noisy", title: "noisy" })).status).toBe(201);
});
afterAll(() => http[Symbol.asyncDispose]());

test("[SEC-admission] reads of one project that do not come back leave calls, heartbeats and reads of the others alone", async () => {
  const { engine } = http.t;
  await withTestClient(http.t.database.url, async (client) => {
    await client.query("begin");
    // Every read of the audit waits now, with its connection.
    await client.query("lock table resource.audit in access exclusive mode");
    const reads = Array.from({ length: 40 }, () => http.send("GET", "/projects/noisy/audit"));
    const made = await http.send("POST", "/projects/demo/calls", { tool_name: "unsafe" });
    const [leased] = await engine.calls.claim({ projectId: "demo", target: "test", holder: "test", max: 1 });
    const path = `/projects/demo/calls/${made.body.tool_call_id}`;
    const lease = leased?.lease.id;
    expect((await http.send("POST", `${path}/heartbeat`, { lease })).status).toBe(200);
    expect((await http.send("GET", "/projects/demo/tools")).status).toBe(200);
    expect((await http.send("POST", `${path}/result`, { lease, status: "success" })).status).toBe(200);
    expect((await http.send("GET", path)).body.status).toBe("success");
    await client.query("rollback");
    expect(new Set((await Promise.all(reads)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

test("[SEC-admission] a batch of names that no tool has costs a few statements, not one or more for each", async () => {
  const items = Array.from({ length: 200 }, (_, index) => ({ tool_name: `saf${index}` }));
  const counted = countStatements([http.t.engine]);
  const { body } = await http.send("POST", "/projects/demo/calls/batch", [...items, { tool_name: "saffe" }]);
  expect(body.items.at(-1)?.error?.message).toContain("did you mean safe?");
  expect(counted.names().filter((name) => name.startsWith("tools.")).length).toBeLessThan(20);
});
