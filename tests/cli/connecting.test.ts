// How `toolplane` finds its server and its token, and what it says when either is missing or wrong.

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { findFreePort } from "@toolplane/processes";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startProgram } from "./program.ts";
import { runHere, type Stack, startStack, TOOLPLANE } from "./stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

/** Without the address and the token that `stack.run` gives. */
const plain = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runHere(args, { cwd: stack.directory, env });

const listen = async (
  answer: (url: string) => { status: number; body: string },
): Promise<{ url: string; seen: string[] }> => {
  const seen: string[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(String(request.headers.authorization));
    const { status, body } = answer(request.url ?? "");
    response.writeHead(status, status === 302 ? { location: stack.url } : {}).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
};

test("[API-2-13] flags win over the environment, which wins over the data directory", async () => {
  const data = join(stack.directory, "data");
  mkdirSync(data);
  writeFileSync(join(data, "token"), `${stack.token}\n`);
  cpSync(data, join(stack.directory, ".toolplane"), { recursive: true });
  const url = { TOOLPLANE_URL: stack.url };
  expect((await plain(["projects", "list"], url)).code).toBe(0);
  expect((await plain(["projects", "list", "--data", "data"], url)).code).toBe(0);
  expect((await plain(["projects", "list"], { ...url, TOOLPLANE_DATA: "data" })).code).toBe(0);
  expect((await plain(["projects", "list", "--url", stack.url])).code).toBe(0);
  expect((await plain(["projects", "list"], { ...url, TOOLPLANE_TOKEN: "tp_x_y" })).code).toBe(1);
  expect((await plain(["projects", "list", "--token", stack.token], { ...url, TOOLPLANE_TOKEN: "tp_x_y" })).code).toBe(
    0,
  );
});

test("[API-2-K21] without a token one line says where to get one", async () => {
  const { code, out, err } = await plain(["projects", "list", "--data", "nowhere"], { TOOLPLANE_URL: stack.url });
  expect([code, out]).toEqual([1, ""]);
  expect(err).toBe(
    `toolplane: unauthorized: ${stack.url} wants a token and none was found; pass --token, set TOOLPLANE_TOKEN, or run this where the data directory is (--data)\n`,
  );
});

test("[API-2-K22] with a wrong token one line says so, and does not repeat the token", async () => {
  const wrong = `tp_${"0".repeat(12)}_${"1".repeat(64)}`;
  const { code, err } = await stack.run(["projects", "list", "--token", wrong]);
  expect(code).toBe(1);
  expect(err).toMatch(/^toolplane: unauthorized: the token is unknown, expired or revoked; [^\n]+\n$/);
  expect(err).not.toContain("1111");
});

test.each([["call", "echo"], ["calls", "list"], ["why", "x"], ["tail"], ["token", "list"]])(
  "[API-2-K12] a server that is not running: %s %s says in one line how to start it",
  async (...args) => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const { code, out, err } = await plain(args, { TOOLPLANE_URL: url });
    expect([code, out]).toEqual([1, ""]);
    expect(err.match(/\n/g)).toHaveLength(1);
    expect(err).toContain(
      `toolplane: upstream_unavailable: no server answers at ${url}; start it with: toolplane up (or name another one with --url)`,
    );
  },
);

test("[API-2-K12] `calls show last --wait` waits for a server that is not back yet", async () => {
  await stack.call("echo", { text: "before the restart" });
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const program = await stack.start(["calls", "show", "last", "--wait", "60s", "--url", url]);
  await program.until(
    "it says that it waits",
    (_, err) => err.includes(`the server at ${url} is away; waiting for it`) || undefined,
  );
  const pass = async (path: string, response: ServerResponse): Promise<void> => {
    const answer = await fetch(`${stack.url}${path}`, { headers: { authorization: `Bearer ${stack.token}` } });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  };
  const back = createServer((request, response) => void pass(request.url ?? "", response));
  await new Promise<void>((resolve) => back.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => void back.close());
  const { code } = await program.ended;
  expect([code, program.out()]).toEqual([0, expect.stringContaining("before the restart")]);
});

test.each([["calls", "list"], ["tools", "list"], ["dead", "list"], ["tail"]])(
  "[API-2-K27] a project that does not exist is told, not shown as empty: %s %s",
  async (...args) => {
    const { code, out, err } = await stack.run([...args, "--project", "nowhere"]);
    expect([code, out, err]).toEqual([
      1,
      "",
      "toolplane: not_found: there is no project nowhere; see which projects exist: toolplane projects list, or GET /projects\n",
    ]);
  },
);

test("[API-2-K23] a redirect is not followed: the token stays where it was sent", async () => {
  const other = await listen(() => ({ status: 302, body: "" }));
  const { code, err } = await stack.run(["projects", "list", "--url", other.url]);
  expect(code).toBe(1);
  expect(err).toContain("answered 302, and not as a Toolplane server does; check --url");
  expect(other.seen).toEqual([`Bearer ${stack.token}`]);
});

test("a server that is not Toolplane is recognised", async () => {
  const other = await listen(() => ({ status: 200, body: "<html>hello</html>" }));
  const { code, err } = await stack.run(["projects", "list", "--url", other.url]);
  expect([code, err]).toEqual([
    1,
    `toolplane: upstream_unavailable: ${other.url} answered 200, and not as a Toolplane server does; check --url\n`,
  ]);
});

test("[API-2-14] --verbose adds the stack, and only then", async () => {
  const quiet = await stack.run(["projects", "show", "nope"]);
  expect(quiet.err.trim().split("\n")).toHaveLength(1);
  const verbose = await stack.run(["projects", "show", "nope", "--verbose"]);
  expect(verbose.err).toContain("\n    at ");
});

test("[API-2-13] --json is JSON on both streams", async () => {
  const { out } = await stack.run(["projects", "list", "--json"]);
  expect((JSON.parse(out) as { items: object[] }).items).toMatchObject([{ project_id: "demo" }]);
  const { err } = await stack.run(["projects", "show", "nope", "--json"]);
  expect((JSON.parse(err) as { error: object }).error).toMatchObject({ code: "not_found" });
});

test("[API-2-15] output that is not a terminal has no colours", async () => {
  const { out } = await stack.run(["tools", "show", "sleep"], { env: { NO_COLOR: "" } });
  expect(out).not.toContain("\u001b");
});

test("[API-2-K25] a reader that has enough ends the command quietly", async () => {
  const command = [...TOOLPLANE, "tail", "--json"].map((word) => `'${word}'`).join(" ");
  const env = { TOOLPLANE_URL: stack.url, TOOLPLANE_TOKEN: stack.token };
  await using piped = await startProgram(["sh", "-c", `${command} | head -n 1`], { cwd: stack.directory, env });
  let over = false;
  void piped.ended.then(() => {
    over = true;
  });
  while (!over) await stack.run(["call", "sleep", '{"seconds":0.02,"parts":2}']);
  expect([(await piped.ended).code, piped.err()]).toEqual([0, ""]);
  expect(piped.out()).toMatch(/^\{.*"event":"(?:evt|str)",.*\}\n$/);
});

test.each([
  [["up", "--port", "high"], /^toolplane: usage: --port takes a number/],
  [["up", "--frob"], /^toolplane: usage: Unknown option '--frob'/],
  [["up", "now"], /^toolplane: usage: up does not take "now"/],
  [["up", "--nats-url", "http://x"], /^toolplane: bad_request: --nats-url is not a NATS URL: it looks like nats:/],
  [["up", "--config", "absent.yaml"], /^toolplane: bad_request: absent\.yaml: there is no such file/],
])("[API-2-K24] %j is wrong usage: one line and exit 2", async (args, line) => {
  const { code, out, err } = await plain(args);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toMatch(line);
});
