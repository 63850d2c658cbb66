import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { createScriptedServer } from "../../test/scripted-server.ts";
import { connect } from "./connect.ts";

/** No server ever listens on this port of this machine. */
const NOBODY = "http://127.0.0.1:3";

const adviceOf = async (plane: ReturnType<typeof connect>): Promise<string> => {
  await using open = plane;
  const error: unknown = await open.call("echo", {}, { wait: 1 }).catch((thrown: unknown) => thrown);
  return isToolplaneError(error) ? error.message : "no error";
};

describe("[API-6-C1] advice names what the program has given", () => {
  test("a url of its own: no variable is blamed", async () => {
    const said = await adviceOf(connect({ url: NOBODY, startupMs: 0, env: {} }));
    expect(said).toBe(`no server answers at ${NOBODY}; start it with: toolplane up, or connect to another url`);
    expect(() => connect({ url: "nowhere", env: {} })).toThrow(/^url must be an http/);
  });

  test("a variable: it is named", async () => {
    const env = { TOOLPLANE_URL: NOBODY };
    expect(await adviceOf(connect({ startupMs: 0, env }))).toContain("name another one in TOOLPLANE_URL");
    expect(() => connect({ env: { TOOLPLANE_URL: "nowhere" } })).toThrow(/^TOOLPLANE_URL must be an http/);
  });
});

test("[API-6-C1] no token: the message itself says how to get one", async () => {
  await using server = await createScriptedServer(() => ({ status: 401, body: {} }));
  const said = await adviceOf(connect({ env: { TOOLPLANE_URL: server.url } }));
  expect(said).toContain("wants a token and none was found; set TOOLPLANE_TOKEN");
  expect(said).toContain("npx toolplane token create --role operator");
});

test("[API-6-C1] https on a server without a certificate: the cause is named at once", async () => {
  await using server = await createScriptedServer(() => ({ body: {} }));
  const url = server.url.replace("http:", "https:");
  expect(await adviceOf(connect({ url, token: "x", env: {} }))).toBe(
    `${url} does not speak TLS; write http:// if the server has no certificate`,
  );
});

test.each([
  ["localhost:18100", "a caller connects over HTTP; write http://localhost:18100"],
  ["nats://user:hush@127.0.0.1:4222", "a caller connects over HTTP"],
])("[API-6-C1] an address that no caller takes is refused in one way: %s", (url, words) => {
  for (const [options, said] of [
    [{ url, env: {} }, "url"],
    [{ env: { TOOLPLANE_URL: url } }, "TOOLPLANE_URL"],
  ] as const) {
    const attempt = (): unknown => connect(options);
    expect(attempt).toThrow(ToolplaneError);
    expect(attempt).toThrow(`${said} must be an http or https address such as http://127.0.0.1:7420: ${words}`);
    expect(attempt).not.toThrow("hush");
  }
});

test.each(["", " "])("[SEE-21] the empty token %j is not replaced by the one of the environment", (token) => {
  const attempt = (): unknown => connect({ url: NOBODY, token, env: { TOOLPLANE_TOKEN: "another" } });
  expect(attempt).toThrow(expect.objectContaining({ code: "bad_request" }));
  expect(attempt).toThrow("token is empty");
});

test.each([
  [{ url: "" }, "connect: the url is empty; leave it out to use TOOLPLANE_URL, or give one"],
  [{ url: " " }, "connect: the url is empty"],
  [{ url: NOBODY, project: "" }, "connect: the project is empty; leave it out to use TOOLPLANE_PROJECT, or give one"],
  [{ url: NOBODY, project: " " }, "connect: the project is empty"],
  [{ url: 5 }, "connect: the url must be a text, not 5"],
  [{ url: NOBODY, token: null }, "connect: the token must be a text, not null"],
  [{ url: NOBODY, project: ["a"] }, "connect: the project must be a text, not a"],
])("[SEE-21] connect(%j) is not replaced by the environment", (options, words) => {
  const env = { TOOLPLANE_URL: NOBODY, TOOLPLANE_TOKEN: "another", TOOLPLANE_PROJECT: "another" };
  const attempt = (): unknown => connect({ env, ...options } as never);
  expect(attempt).toThrow(expect.objectContaining({ code: "bad_request" }));
  expect(attempt).toThrow(words);
});

test("[SEE-21] a key that connect does not take is refused by name", () => {
  expect(() => connect({ urll: NOBODY, env: {} } as never)).toThrow("connect: there is no key urll; did you mean url?");
});
