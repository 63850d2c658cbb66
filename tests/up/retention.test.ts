// Forgetting as an operator asks for it: by a key of the configuration, and not at all without it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { meddle } from "@toolplane/testkit";
import { expect, test, vi } from "vitest";
import { openPlane } from "./plane.ts";
import type { UpProcess } from "./up-process.ts";

// Two starts, on a machine that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

const NOBODY = {
  tool_name: "wait",
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.nobody.wait",
  after_execution: "suspend",
  parameters: { type: "object" },
};

/** A project with a settled call and an open one. */
const makeWork = async (up: UpProcess, project: string): Promise<void> => {
  await up.request("POST", "/projects", { project_id: project, title: project, bootstrap: true });
  await up.request("POST", `/projects/${project}/tools`, NOBODY);
  const echo = { tool_name: "echo", arguments: {}, wait_seconds: 30 };
  expect((await up.request("POST", `/projects/${project}/calls`, echo)).body).toMatchObject({ status: "success" });
  const open = { tool_name: "wait", arguments: {}, wait_seconds: 0 };
  expect((await up.request("POST", `/projects/${project}/calls`, open)).status).toBe(202);
};

const statuses = async (up: UpProcess, project: string): Promise<readonly string[]> =>
  (await up.request("GET", `/projects/${project}/calls`)).body.items
    .map(({ status }: { readonly status: string }) => status)
    .sort();

test("[UP-3-9] old settled work goes where retention says so; live, young and kept work stays", async () => {
  await using plane = await openPlane("postgres");
  const asking = plane.up("api,tools");
  await asking.ready();
  await makeWork(asking, "shop");
  await makeWork(asking, "audit");
  await meddle(plane.databaseUrl, "ageAllCalls");
  await makeWork(asking, "young");
  writeFileSync(join(plane.root, "keep.yaml"), "retention: { days: 30, projects: { audit: forever } }\n");
  const forgetting = plane.up("worker", "--config", "keep.yaml");
  await forgetting.said("old work was deleted by retention");
  expect(forgetting.stderr()).toContain('"calls":1');
  const left = await Promise.all(["shop", "audit", "young"].map((project) => statuses(asking, project)));
  expect(left).toEqual([["queued"], ["queued", "success"], ["queued", "success"]]);
  // Whoever was not told to forget has not.
  expect(asking.stderr()).not.toContain("old work was deleted by retention");
});
