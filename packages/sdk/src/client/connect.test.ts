import { isToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { connect } from "./connect.ts";

/** No server ever listens on this port of this machine. */
const NOBODY = "http://127.0.0.1:3";

const adviceOf = async (plane: ReturnType<typeof connect>): Promise<string> => {
  await using open = plane;
  const error: unknown = await open.call("echo", {}, { wait: 1 }).catch((thrown: unknown) => thrown);
  return isToolplaneError(error) ? `${error.message}; ${String(error.detail?.todo)}` : "no error";
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

test("[SEE-21] a key that connect does not take is refused by name", () => {
  expect(() => connect({ urll: NOBODY, env: {} } as never)).toThrow("connect: there is no key urll; did you mean url?");
});
