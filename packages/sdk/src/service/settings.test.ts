import { UsageError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { planSettings } from "./settings.ts";

describe("planSettings", () => {
  test("[API-6-3] a target is enough; the rest has defaults", () => {
    expect(planSettings({ target: "text" }, {})).toEqual({
      target: "text",
      url: "http://127.0.0.1:7420",
      token: undefined,
      projectId: "demo",
      concurrency: 8,
    });
  });

  test("[API-6-3] the environment says where, who and for which project", () => {
    const env = { TOOLPLANE_URL: "https://plane.example/base/", TOOLPLANE_TOKEN: " tok ", TOOLPLANE_PROJECT: "shop" };
    expect(planSettings({ target: "text" }, env)).toMatchObject({
      url: "https://plane.example/base",
      token: "tok",
      projectId: "shop",
    });
  });

  test("[API-6-3] options beat the environment", () => {
    const env = { TOOLPLANE_URL: "http://a", TOOLPLANE_TOKEN: "a", TOOLPLANE_PROJECT: "a" };
    expect(
      planSettings({ target: "text", url: "http://b", token: "b", project: "b", concurrency: 2 }, env),
    ).toMatchObject({
      url: "http://b",
      token: "b",
      projectId: "b",
      concurrency: 2,
    });
  });

  test.each([
    ["no address", { url: "plane" }, "http or https"],
    ["another protocol", { url: "ftp://plane" }, "http or https"],
    ["a password in the address", { url: "http://me:pw@plane" }, "TOOLPLANE_TOKEN"],
    ["a token in the query", { url: "http://plane/?token=x" }, "TOOLPLANE_TOKEN"],
    ["a target with a dot", { target: "a.b" }, "target must be"],
    ["a project with a blank", { project: "a b" }, "project must be"],
    ["a token with a line break", { token: "a\nb" }, "token"],
    ["no places", { concurrency: 0 }, "concurrency"],
    ["half a place", { concurrency: 1.5 }, "concurrency"],
  ])("[API-6-S15] %s is one sentence that says what to change", (_name, change, words) => {
    const plan = () => planSettings({ target: "text", ...change }, {});
    expect(plan).toThrow(UsageError);
    expect(plan).toThrow(words);
  });
});
