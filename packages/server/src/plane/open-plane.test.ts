import { ToolplaneError } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { openPlane } from "./open-plane.ts";

test.each([
  [{ dir: "x" }, "openPlane: there is no key dir; the keys are data, databaseUrl, project"],
  [{ dataBaseUrl: "postgres://h/d" }, "openPlane: there is no key dataBaseUrl; did you mean databaseUrl?"],
  [{ data: "", databaseUrl: undefined, config: "/nowhere" }, "openPlane: data is empty"],
  [{ databaseUrl: " " }, "openPlane: databaseUrl is empty"],
  [{ ephemeral: "x" }, "openPlane: ephemeral must be true or false, not x"],
  [{ ephemeral: 0 }, "openPlane: ephemeral must be true or false, not 0"],
  [{ databaseUrl: 5 }, "openPlane: databaseUrl must be a text, not 5"],
  [{ databaseUrl: undefined, data: true }, "openPlane: data must be a text, not true"],
  [{ config: false }, "openPlane: config must be a text, not false"],
  [{ project: null }, "openPlane: project must be a text, not null"],
  [{ env: "A=1" }, "openPlane: env must be an object of texts, such as process.env"],
  [{ log: "debug" }, "openPlane: log must be an object with the functions info, warn, error"],
  [{ data: "x", databaseUrl: "postgres://h/d" }, "openPlane takes data or databaseUrl"],
])("[SEE-21] openPlane refuses %j before it opens anything", async (options, words) => {
  // A mistake that is not found fails too, at the database: no plane is left open by this test.
  const opened = openPlane({ databaseUrl: "postgres://127.0.0.1:3/none", env: {}, ...options } as never);
  const error: unknown = await opened.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ToolplaneError);
  expect(error).toMatchObject({ code: "bad_request", message: expect.stringContaining(words) });
});
