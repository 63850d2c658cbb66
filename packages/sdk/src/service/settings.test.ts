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

  test("[SEE-20] the plane beside it comes after the environment, and before the default", () => {
    const beside = "http://127.0.0.1:7999";
    expect(planSettings({ target: "text" }, {}, beside).url).toBe(beside);
    expect(planSettings({ target: "text" }, { TOOLPLANE_URL: "http://a" }, beside).url).toBe("http://a");
    expect(planSettings({ target: "text", url: "http://b" }, {}, beside).url).toBe("http://b");
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
    ["NATS without a host", { url: "nats://" }, "is not a NATS URL"],
    ["an http address among those of NATS", { url: "nats://a:1,http://b" }, "is not a NATS URL"],
    ["a second address without a scheme", { url: "nats://a:1,b:2" }, "is not a NATS URL"],
    ["a NATS address with a path", { url: "nats://a:1/demo" }, "is not a NATS URL"],
    ["a NATS password that is not encoded", { url: "nats://me:50%@a:1" }, "URL-encoded"],
    ["plain and encrypted", { url: "nats://a:1,tls://b:2" }, "all nats:// or all tls://"],
    ["two users", { url: "nats://a:x@h,nats://b:y@i" }, "different users"],
    ["a user and a file", { url: "nats://a:x@h", natsCredentials: "/c" }, "not both"],
    ["an inbox with a wildcard", { url: "nats://h", natsInbox: "_INBOX.>" }, "TOOLPLANE_NATS_INBOX"],
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

  test("[API-6-N1] a nats or tls address is enough to speak NATS; what is shown has no user and no password", () => {
    const env = {
      TOOLPLANE_URL: "nats://me:p%40ss@a.example:4222, nats://b.example:4222",
      TOOLPLANE_NATS_INBOX: "_INBOX_text",
    };
    const settings = planSettings({ target: "text" }, env);
    expect(settings).toMatchObject({ url: "nats://a.example:4222,nats://b.example:4222", projectId: "demo" });
    expect(settings.nats).toEqual({
      url: "nats://me:p%40ss@a.example:4222,nats://b.example:4222",
      credentials: undefined,
      inboxPrefix: "_INBOX_text",
      secrets: new Map([["TOOLPLANE_URL", "p@ss"]]),
    });
  });

  test.each([
    ["a token", "nats://s3cr3t@h", {}, [["TOOLPLANE_URL", "s3cr3t"]], undefined],
    ["nobody", "nats://h", {}, [], undefined],
    ["a file", "nats://h", { TOOLPLANE_NATS_CREDENTIALS: "/run/me.creds" }, [], "/run/me.creds"],
  ])("[API-6-N1] who connects is %s", (_name, url, env, secrets, credentials) => {
    const { nats } = planSettings({ target: "text", url }, env);
    expect([...(nats?.secrets ?? [])]).toEqual(secrets);
    expect(nats?.credentials).toBe(credentials);
  });

  test("[API-6-N1] what is set for NATS does not disturb HTTP", () => {
    const env = { TOOLPLANE_NATS_CREDENTIALS: "/c", TOOLPLANE_NATS_INBOX: "x y" };
    expect(planSettings({ target: "text" }, env)).not.toHaveProperty("nats");
  });
});
