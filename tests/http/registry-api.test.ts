import { expect, test } from "vitest";
import { startHttpStack } from "./http-stack.ts";

const yaml = `
tool_name: shout
description: Says it louder
target_subject: cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.shout
after_execution: suspend
parameters:
  type: object
  properties: { text: { type: string } }
`;

test("[API-tools-upload] a tool is uploaded as YAML, form or JSON; 201 new, 200 replaced or unchanged", async () => {
  await using http = await startHttpStack();
  const upload = (body: string, type: string) =>
    http.send("POST", "/projects/demo/tools", body, { headers: { "content-type": type } });
  expect(await upload(yaml, "application/yaml")).toMatchObject({
    status: 201,
    body: { tool_name: "shout", version: 1, outcome: "created" },
  });
  expect(await upload(yaml, "text/yaml")).toMatchObject({ status: 200, body: { outcome: "unchanged" } });
  const boundary = "x".repeat(20);
  const form = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="t.yaml"\r\n\r\n${yaml.replace("louder", "much louder")}\r\n--${boundary}--\r\n`;
  expect(await upload(form, `multipart/form-data; boundary=${boundary}`)).toMatchObject({
    status: 200,
    body: { version: 2, outcome: "replaced" },
  });
  expect((await http.send("GET", "/projects/demo/tools/shout/versions")).body.items).toHaveLength(2);
  expect((await http.send("DELETE", "/projects/demo/tools/shout")).status).toBe(204);
  expect((await http.send("GET", "/projects/demo/tools/shout")).status).toBe(404);
});

test("[SEC-10-yaml] hostile or broken YAML is refused with one sentence", async () => {
  await using http = await startHttpStack();
  const bomb = `a: &a [1,1,1,1,1,1,1,1,1,1]\n${Array.from({ length: 9 }, (_, i) => `b${i}: &b${i} [*${i === 0 ? "a" : `b${i - 1}`},*${i === 0 ? "a" : `b${i - 1}`},*${i === 0 ? "a" : `b${i - 1}`}]`).join("\n")}\n`;
  for (const body of [
    bomb,
    "a: !!js/function 'x'",
    "a: [",
    "a: 1\na: 2",
    "- 1",
    `surprise: true\n${yaml}`,
    "x".repeat(2 * 1024 * 1024),
  ]) {
    const answer = await http.send("POST", "/projects/demo/tools", body, {
      headers: { "content-type": "application/yaml" },
    });
    expect([400, 413]).toContain(answer.status);
    expect(answer.body.error.message).not.toContain("\n");
  }
});

test.each([
  ["", '"__proto__": {"a": 1}', "$"],
  ["escaped", '"\\u005f_proto__": 1', "$"],
  ["in options", '"options": {"__proto__": null}', "$.options"],
  ["in a limit", '"options": {"rate": {"limit": 1, "per_seconds": 1, "__proto__": 1}}', "$.options.rate"],
  ["in an object of options", '"options": {"args": {"fixed": {"__proto__": 1}}}', "$.options.args.fixed"],
])(
  "[API-tools-upload] a definition with the key __proto__ %s is refused by name, as JSON and as YAML",
  async (_, part, at) => {
    await using http = await startHttpStack();
    const text = `{"tool_name": "tame", "target_subject": "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.tame", "after_execution": "suspend", ${part}}`;
    for (const type of ["application/json", "application/yaml"])
      expect(
        await http.send("POST", "/projects/demo/tools", text, { headers: { "content-type": type } }),
      ).toMatchObject({
        status: 400,
        body: {
          error: { code: "bad_request", message: `tool definition is not valid: unknown key "__proto__" at ${at}` },
        },
      });
  },
);

test("[API-tools-upload] __proto__ in the author's own names is dropped, as it is in arguments", async () => {
  await using http = await startHttpStack();
  const names = '{"type": "object", "properties": {"__proto__": {"type": "string"}, "a": {}}}';
  const text = `{"tool_name": "own", "target_subject": "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.own", "after_execution": "suspend", "parameters": ${names},
    "options": {"output_schema": ${names}, "args": {"defaults": {"a": {"__proto__": 1, "b": 2}}}}}`;
  expect(await http.send("POST", "/projects/demo/tools", text)).toMatchObject({
    status: 201,
    body: { parameters: { properties: { a: {} } }, options: { args: { defaults: { a: { b: 2 } } } } },
  });
});

test("[API-tools-owner] a tool service registers for its own targets only, and a name belongs to who registered it", async () => {
  await using http = await startHttpStack();
  const one = await http.toolToken(["test"]);
  const two = await http.toolToken(["elsewhere"]);
  const upload = (token: string, target: string) =>
    http.send("POST", "/projects/demo/tools", yaml.replace("tool.test.", `tool.${target}.`), {
      token,
      headers: { "content-type": "application/yaml" },
    });
  expect((await upload(one, "test")).status).toBe(201);
  expect((await upload(one, "elsewhere")).status).toBe(403);
  const clash = await upload(two, "elsewhere");
  expect([clash.status, clash.body.error.code]).toEqual([409, "conflict"]);
});

test("[API-projects] projects are made, listed, changed and deleted; not while calls are open unless forced", async () => {
  await using http = await startHttpStack();
  const made = await http.send("POST", "/projects", { title: "Second", bootstrap: false });
  expect(made.status).toBe(201);
  const path = `/projects/${made.body.project_id}`;
  expect((await http.send("GET", "/projects")).body.items).toHaveLength(2);
  expect((await http.send("PATCH", path, { title: "Renamed" })).body.title).toBe("Renamed");
  expect((await http.send("DELETE", path)).status).toBe(204);
  expect((await http.send("GET", path)).status).toBe(404);
  await http.send("POST", "/projects/demo/calls", { tool_name: "safe" });
  expect((await http.send("DELETE", "/projects/demo")).status).toBe(409);
  expect((await http.send("DELETE", "/projects/demo?force=true")).status).toBe(204);
});

test("[API-tokens] a token is shown once, listed without its secret, and revoked", async () => {
  await using http = await startHttpStack();
  const made = await http.send("POST", "/tokens", { role: "tool", project_id: "demo", targets: ["text"] });
  expect(made.body).toMatchObject({ role: "tool", actor: "tool.text", targets: ["text"] });
  const listed = JSON.stringify((await http.send("GET", "/tokens")).body);
  expect(listed).toContain(made.body.token_id);
  expect(listed).not.toContain(made.body.token.split("_")[2]);
  expect((await http.send("DELETE", `/tokens/${made.body.token_id}`)).status).toBe(204);
  const refused = await http.send(
    "POST",
    "/projects/demo/tool-services/text/claim",
    { wait_seconds: 0 },
    { token: made.body.token },
  );
  expect(refused.status).toBe(401);
});

test("[API-events] events resume after Last-Event-ID; parts of a running call arrive as they are made", async () => {
  await using http = await startHttpStack();
  const { engine } = http.t;
  const subject = "cg.v1r4.demo.public.evt.agent.helper.task";
  const publish = (n: number) => engine.bus.publish([{ subject, headers: {}, payload: JSON.stringify({ n }) }]);
  const open = async (headers: Record<string, string>) => {
    const response = await http.raw("/projects/demo/events", {
      headers: { authorization: `Bearer ${http.admin}`, ...headers },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    const until = async (wanted: string): Promise<string> => {
      while (!text.includes(wanted)) {
        const { value, done } = await reader.read();
        if (done) break;
        text += new TextDecoder().decode(value);
      }
      return text;
    };
    return { until, close: () => reader.cancel() };
  };
  const first = await open({});
  await first.until(": connected");
  await publish(1);
  const seen = await first.until('"n":1');
  // The first id is where the log stood when the stream began, the second is the event's.
  const [begun = "", id = ""] = [...seen.matchAll(/id: (\S+)/g)].map(([, found]) => found ?? "");
  await first.close();
  await publish(2);
  const second = await open({ "last-event-id": id });
  expect(await second.until('"n":2')).not.toContain('"n":1');
  const whole = await open({ "last-event-id": begun });
  expect(await whole.until('"n":2')).toContain('"n":1');
  await whole.close();
  const made = (await http.send("POST", "/projects/demo/calls", { tool_name: "safe" })).body;
  await engine.emitParts({ projectId: "demo", toolCallId: made.tool_call_id }, [{ index: 0, part: { progress: 0.5 } }]);
  expect(await second.until('"progress":0.5')).toContain("str.agent.sys_api.part");
  // On NATS anybody with the right may publish a stream item: one that is not JSON ends nobody's stream.
  const chunk = "cg.v1r4.demo.public.str.agent.helper.chunk";
  for (const payload of ["not json", '{"after":1}']) engine.bus.publishStream({ subject: chunk, payload });
  expect(await second.until('"after":1')).toContain('{"after":1}');
  await second.close();
  const bad = await http.send("GET", "/projects/demo/events", undefined, { headers: { "last-event-id": "nonsense" } });
  expect(bad.status).toBe(400);
});

test("[LIM-retry-5] a registration whose retry policy names a misspelled code is taken, and warned of", async () => {
  await using http = await startHttpStack();
  const retry_policy = { attempts: 3, backoff_seconds: 1, codes: ["rate_limitted", "of_my_own"] };
  const target_subject = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.misspelled";
  const options = { retry: "safe", retry_policy };
  const upload = { tool_name: "misspelled", target_subject, after_execution: "suspend", options };
  expect(await http.send("POST", "/projects/demo/tools", upload)).toMatchObject({
    status: 201,
    body: { warnings: [expect.stringMatching(/rate_limitted.*; did you mean rate_limited\?$/)], options },
  });
  const limits = { concurrency: 1, retry_policy: { ...retry_policy, codes: ["TOOL_TIMEOUT"] } };
  expect(await http.send("PATCH", "/projects/demo/tools/misspelled/limits", limits)).toMatchObject({
    body: { warnings: [expect.stringMatching(/TOOL_TIMEOUT.*; did you mean tool_timeout\?$/)] },
  });
  // A version that waits for a person is judged by itself, not by the one in force.
  const service = { headers: { "toolplane-register-as": "service" } };
  const looser = { ...upload, options: { ...options, concurrency: 5 } };
  expect(await http.send("POST", "/projects/demo/tools", looser, service)).toMatchObject({
    status: 202,
    body: { warnings: [expect.stringContaining("rate_limitted")] },
  });
});

test("[API-tools-upload] [SEE-16] a plane without NATS warns of a tool whose service it cannot reach, and why says so", async () => {
  for (const noNats of [true, false]) {
    const processes = () => ({ list: async () => undefined, busAway: () => false, noNats: () => noNats });
    await using http = await startHttpStack({}, { processes });
    for (const [tool_name, version, options] of [
      ["plain", "v1r4", { service: "plain" }],
      ["older", "v1r3", {}],
      ["leased", "v1r4", {}],
    ] as const) {
      const target_subject = `cg.${version}.{project_id}.{channel_id}.cmd.tool.test.${tool_name}`;
      const upload = { tool_name, target_subject, after_execution: "suspend", options };
      const answer = await http.send("POST", "/projects/demo/tools", upload);
      expect(answer.status).toBe(201);
      const isWarned = noNats && tool_name !== "leased";
      expect(answer.body.warnings).toEqual(
        isWarned
          ? [expect.stringMatching(/^this plane has no NATS, so no command reaches a plain service, /)]
          : undefined,
      );
      // The answer is taken as a definition again.
      expect(await http.send("POST", "/projects/demo/tools", answer.body)).toMatchObject({ status: 200 });
      if (tool_name === "leased") continue;
      const made = await http.send("POST", "/projects/demo/calls", { tool_name, arguments: {} });
      const { body } = await http.send("GET", `/projects/demo/calls/${made.body.tool_call_id}/why`);
      expect(String(body.why).startsWith("this plane has no NATS")).toBe(noNats);
    }
  }
});
