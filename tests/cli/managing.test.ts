// `toolplane tools`, `projects`, `token` and `tail` against a real server.

import { statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Stack, startStack } from "./stack.ts";

let stack: Stack;
const told: string[] = [];
const receiver = createServer((request, response) => {
  told.push(String(request.headers["toolplane-event"]));
  request.resume();
  response.writeHead(204).end();
});
const receiverUrl = (): string => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  stack = await startStack({ TOOLPLANE_WEBHOOK_HOSTS: "127.0.0.1", TOOLPLANE_EGRESS_ALLOW: receiverUrl() });
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  receiver.closeAllConnections();
  receiver.close();
});

const definition = (name: string, description: string): string =>
  [
    `tool_name: ${name}`,
    `description: ${description}`,
    `target_subject: cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.${name}`,
    "after_execution: suspend",
    "",
  ].join("\n");

const write = (file: string, text: string): string => {
  writeFileSync(join(stack.directory, file), text);
  return file;
};

describe("toolplane console", () => {
  test("[SEC-11-L10] up and console print links that log a browser in, once; sessions are listed and revoked", async () => {
    const printed = /^console {2}(\S+)$/m.exec(stack.up.out())?.[1] ?? expect.unreachable("no link");
    const { out, err } = await stack.run(["console"]);
    expect(out).toMatch(new RegExp(`^${stack.url}/#login=[0-9a-f]{64}\n$`));
    expect(err).toContain("it works once");
    const cookies: string[] = [];
    for (const link of [printed, out.trim()]) {
      const logIn = (): Promise<Response> =>
        fetch(`${stack.url}/session`, {
          method: "POST",
          headers: { "content-type": "application/json", origin: stack.url },
          body: JSON.stringify({ code: link.split("#login=")[1] }),
        });
      const answer = await logIn();
      expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ role: "admin" })]);
      cookies.push((answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "");
      expect((await logIn()).status).toBe(401);
    }
    const { items } = (await stack.json("sessions", "list")) as { items: { session_id: string }[] };
    expect(items).toHaveLength(2);
    const id = cookies[0]?.split("_")[2] ?? "";
    expect((await stack.run(["sessions", "revoke", id])).out).toBe(`revoked ${id}\n`);
    const statusOf = async (cookie = ""): Promise<number> =>
      (await fetch(`${stack.url}/tokens`, { headers: { cookie } })).status;
    expect([await statusOf(cookies[0]), await statusOf(cookies[1])]).toEqual([401, 200]);
    expect((await fetch(`${stack.url}/`, { headers: { accept: "text/html" } })).status).toBe(200);
  });
});

describe("toolplane webhooks", () => {
  test("[API-webhook-1] create, list, deliveries, replay and delete; the secret comes from a variable", async () => {
    const url = `${receiverUrl()}/hook`;
    const none = await stack.run(["webhooks", "create", url]);
    expect([none.code, none.err]).toEqual([2, expect.stringContaining("TOOLPLANE_WEBHOOK_SECRET")]);
    const env = { TOOLPLANE_WEBHOOK_SECRET: "a-secret-of-this-webhook" };
    const away = await stack.run(["webhooks", "create", "https://evil.example/"], { env });
    expect([away.code, away.err]).toEqual([1, expect.stringContaining("not in the list of allowed hosts")]);
    const made = await stack.run(["webhooks", "create", url, "--events", "call.settled"], { env });
    const id = /^created (\S+)\n$/.exec(made.out)?.[1] ?? expect.unreachable(made.err);
    expect((await stack.run(["webhooks", "list"])).out).toContain(url);
    await stack.call("echo", { text: "x" });
    await expect.poll(() => told).toEqual(["call.settled"]);
    const sent = async () =>
      (await stack.json("webhooks", "deliveries", id)) as { items: { delivery_id: string; status: string }[] };
    await expect.poll(async () => (await sent()).items.map(({ status }) => status)).toEqual(["delivered"]);
    const deliveryId = (await sent()).items[0]?.delivery_id ?? "";
    expect((await stack.run(["webhooks", "replay", deliveryId])).out).toBe(`replayed ${deliveryId}\n`);
    await expect.poll(() => told).toEqual(["call.settled", "call.settled"]);
    expect((await stack.run(["webhooks", "delete", id])).out).toBe(`deleted ${id}\n`);
    expect((await stack.run(["webhooks", "list"])).out).toContain("has no webhooks");
  });
});

describe("toolplane tools", () => {
  test("[API-2-K17] apply registers, leaves alone what is the same, replaces what changed, and keeps every version", async () => {
    const file = write("one.yaml", definition("one", "First"));
    expect((await stack.run(["tools", "apply", file])).out).toBe("created one version 1\n");
    expect((await stack.run(["tools", "apply", file])).out).toBe("unchanged one version 1\n");
    write("one.yaml", definition("one", "Second"));
    expect((await stack.run(["tools", "apply", file])).out).toBe("replaced one version 2\n");
    const { items } = (await stack.json("tools", "versions", "one")) as { items: { version: number }[] };
    expect(items.map(({ version }) => version)).toEqual([2, 1]);
    expect((await stack.run(["tools", "versions", "one"])).out).toMatch(
      /^VERSION {2}STATE {5}CREATED {15}DEFINITION HASH\n2 +accepted +\S+ {2}[0-9a-f]{64}\n1 /,
    );
    expect((await stack.run(["tools", "show", "one"])).out).toMatch(/^description {2,}Second$/m);
    expect((await stack.run(["tools", "list"])).out).toMatch(/^one +2 +- +active +files +Second$/m);
  });

  test("[API-2-K18] of several files the good ones are registered and each bad one is named; exit 1", async () => {
    const good = write(
      "good.json",
      JSON.stringify({
        ...JSON.parse(`{"tool_name":"good"}`),
        target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.good",
        after_execution: "suspend",
      }),
    );
    const bad = write("bad.yaml", definition("bad", "x").replace("suspend", "explode"));
    const broken = write("broken.yaml", "tool_name: [");
    const { code, out, err } = await stack.run(["tools", "apply", bad, good, broken, "absent.yaml"]);
    expect([code, out]).toEqual([1, "created good version 1\n"]);
    const said = err.trim().split("\n");
    expect(said).toHaveLength(3);
    expect(said[0]).toMatch(/^toolplane: bad_request: bad\.yaml: .*after_execution/);
    expect(said[1]).toMatch(/^toolplane: bad_request: broken\.yaml: the YAML cannot be read/);
    expect(said[2]).toMatch(/^toolplane: usage: absent\.yaml: cannot read absent\.yaml: it does not exist/);
  });

  test("pause holds calls back, resume lets them run, delete takes the tool away", async () => {
    expect((await stack.run(["tools", "pause", "echo"])).out).toBe("paused echo\n");
    const { tool_call_id: id } = await stack.json("call", "echo", "{}", "--wait", "0");
    expect((await stack.json("why", String(id))).todo).toBe("toolplane tools resume echo");
    expect((await stack.run(["tools", "resume", "echo"])).out).toBe("resumed echo\n");
    expect(await stack.json("calls", "show", String(id), "--wait", "30s")).toMatchObject({ status: "success" });
    const file = write("gone.yaml", definition("gone", "x"));
    await stack.run(["tools", "apply", file]);
    expect((await stack.run(["tools", "delete", "gone"])).out).toBe("deleted gone\n");
    expect((await stack.run(["tools", "show", "gone"])).err).toMatch(/^toolplane: not_found: /);
  });

  test.each([
    ["show", "nope"],
    ["versions", "nope"],
    ["pause", "nope"],
    ["resume", "nope"],
    ["delete", "nope"],
  ])("[API-2-14] tools %s of a tool that is not there is one line and exit 1", async (verb, name) => {
    const { code, out, err } = await stack.run(["tools", verb, name]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^toolplane: not_found: [^\n]+\n$/);
  });
});

describe("toolplane projects", () => {
  test("[API-2-K19] create, list, show and delete", async () => {
    expect((await stack.run(["projects", "create", "shop", "--title", "The shop", "--owner", "sys.ann"])).out).toBe(
      "created shop\n",
    );
    expect((await stack.run(["projects", "list"])).out).toMatch(/^shop +active +sys\.ann +\S+ +The shop$/m);
    expect(await stack.json("projects", "show", "shop")).toMatchObject({ project_id: "shop", title: "The shop" });
    expect((await stack.json("tools", "list", "--project", "shop")).items).not.toEqual([]);
    await stack.run(["projects", "create", "bare", "--bare"]);
    const none = await stack.run(["tools", "list", "--project", "bare"]);
    expect(none.out).toContain("project bare has no tools");
    expect((await stack.run(["projects", "delete", "bare"])).out).toBe("deleted bare\n");
    expect((await stack.run(["projects", "show", "bare"])).err).toMatch(/^toolplane: not_found: /);
  });

  test("a name that is taken or impossible is refused; open calls keep a project unless forced", async () => {
    await stack.run(["projects", "create", "busy"]);
    expect((await stack.run(["projects", "create", "busy"])).err).toMatch(/^toolplane: conflict: /);
    expect((await stack.run(["projects", "create", "no/slash"])).err).toMatch(/^toolplane: bad_request: /);
    await stack.json("call", "sleep", '{"seconds":300}', "--wait", "0", "--project", "busy");
    const refused = await stack.run(["projects", "delete", "busy"]);
    expect([refused.code, refused.err.startsWith("toolplane: conflict: ")]).toEqual([1, true]);
    expect((await stack.run(["projects", "delete", "busy", "--force"])).code).toBe(0);
  });
});

describe("toolplane token", () => {
  test("[API-2-9] create prints the token alone on stdout; list hides secrets; revoke ends it", async () => {
    const made = await stack.run(["token", "create", "--role", "viewer", "--ttl", "30d", "--label", "for ann"]);
    const secret = made.out.trim();
    expect(made.out).toMatch(/^tp_[0-9a-f]{12}_[0-9a-f]{64}\n$/);
    expect(made.err).toMatch(/^token [0-9a-f]{12}: role viewer, project demo, until \S+Z; it is not shown again\n$/);
    const id = secret.split("_")[1] ?? "";
    const list = await stack.run(["token", "list"]);
    expect(list.out).toMatch(new RegExp(`^${id} +viewer +demo .* for ann$`, "m"));
    expect(list.out).not.toContain(secret.split("_")[2]);
    const asViewer = { env: { TOOLPLANE_TOKEN: secret } };
    expect((await stack.run(["calls", "list"], asViewer)).code).toBe(0);
    const forbidden = await stack.run(["call", "echo"], asViewer);
    expect([forbidden.code, forbidden.err]).toEqual([
      1,
      "toolplane: auth_failed: a token of role viewer may not do this; it takes admin or operator or agent; use a token that may do it: toolplane token create; this one came from TOOLPLANE_TOKEN\n",
    ]);
    expect((await stack.run(["token", "revoke", secret])).out).toBe(`revoked ${id}\n`);
    expect((await stack.run(["token", "list"])).out).toMatch(new RegExp(`^${id} .*\\d{4}-\\d\\d-\\d\\dT`, "m"));
  });

  test("[API-2-9] a tool's token names its targets and actor", async () => {
    const made = await stack.json("token", "create", "--role", "tool", "--targets", "a, b", "--actor", "tool.a");
    expect(made).toMatchObject({ role: "tool", project_id: "demo", targets: ["a", "b"], actor: "tool.a" });
    const bare = await stack.run(["token", "create", "--role", "tool"]);
    expect([bare.code, bare.err.startsWith("toolplane: usage: --role tool needs --targets NAME")]).toEqual([2, true]);
  });

  test.each([
    [["token", "create"], 2, /^toolplane: usage: --role takes one of/],
    [["token", "create", "--role", "viewer", "--ttl", "long"], 2, /^toolplane: usage: --ttl takes a duration/],
    [
      ["token", "create", "--role", "viewer", "--project", "nowhere"],
      1,
      /^toolplane: not_found: there is no project nowhere/,
    ],
    [["token", "revoke", "nope"], 1, /^toolplane: not_found: /],
  ])("[API-2-14] %j is one line", async (args, expected, line) => {
    const { code, out, err } = await stack.run(args);
    expect([code, out]).toEqual([expected, ""]);
    expect(err).toMatch(line);
  });
});

describe("toolplane tools limits", () => {
  test("[LIM-door-4] [API-2-K6] shows the limits and what they hold now, of a tool and of the project", async () => {
    const file = write("crowded.yaml", definition("crowded", "One at a time"));
    await stack.run(["tools", "apply", file]);
    await stack.run(["tools", "limits", "crowded", "--concurrency", "1"]);
    for (let call = 0; call < 3; call++)
      await stack.api("POST", "/projects/demo/calls", { tool_name: "crowded", arguments: {} });
    await stack.api("POST", "/projects/demo/tool-services/files/claim", { max: 5, wait_seconds: 0 });
    const { out } = await stack.run(["tools", "limits", "crowded"]);
    expect(out).toMatch(/^concurrency +1$[\s\S]*^running +1$[\s\S]*^waiting +2$[\s\S]*^held by +concurrency$/m);
    expect(await stack.json("tools", "limits", "crowded")).toMatchObject({
      concurrency: 1,
      state: { held_by: "concurrency", running: 1, waiting: 2 },
    });
    expect(await stack.json("tools", "limits", "word_count")).toMatchObject({ concurrency: null, state: null });
    const whole = await stack.run(["projects", "limits", "demo", "--concurrency", "50"]);
    expect(whole.out).toMatch(/^concurrency +50$[\s\S]*^running +1$[\s\S]*^waiting +2$/m);
    await stack.run(["projects", "limits", "demo", "--concurrency", "none"]);
    await stack.run(["calls", "cancel", "--all", "--tool", "crowded"]);
  });
});

describe("toolplane tail", () => {
  test("[API-2-K20] shows what happens as it happens, and ends with 0 on Ctrl-C", async () => {
    await using tail = await stack.start(["tail", "--json"]);
    const sleeping = { tool: "sleep", args: '{"seconds":0.05,"parts":1}' };
    // The stream begins where it is connected: what is done before that is not its business.
    const seen = tail.until("a part", (out) => out.match(/^.*"part":.*$/m)?.[0]);
    let over = false;
    const calling = (async () => {
      while (!over) await stack.run(["call", sleeping.tool, sleeping.args]);
    })();
    const line = JSON.parse(await seen) as Record<string, unknown>;
    over = true;
    await calling;
    expect(line).toMatchObject({ event: "str", payload: { index: 0, part: { slept_seconds: 0.05 } } });
    expect(line.subject).toMatch(/^cg\.v1r4\.demo\.public\.str\.agent\./);
    tail.signal("SIGINT");
    expect(await tail.ended).toEqual({ code: 0, signal: null });
  });

  test("an event id that is none is refused", async () => {
    const { code, err } = await stack.run(["tail", "--after", "nonsense"]);
    expect([code, err.startsWith("toolplane: bad_request: ")]).toEqual([1, true]);
  });
});

test("[API-2-1] the last line on stdout of up is ready and its address, and the first token is closed to others", async () => {
  expect(stack.up.out().split("\n").slice(1)).toEqual([`ready ${stack.url}`, ""]);
  const file = stack.up.err().match(/"file":"([^"]+)"/)?.[1] ?? "";
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
