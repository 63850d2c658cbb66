// Directories that are made once per run and copied by every test that wants one. The lock of the shared server lets one
// process make a template while the others wait, and a maker that dies lets go of it. A template gets its name when it is
// complete.

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { socketUrl } from "@toolplane/processes";
import { withTestClient } from "./postgres-client.ts";
import { lockTemplates } from "./postgres-database.sql.ts";
import { sharedPostgres } from "./postgres-run.ts";

export interface DirectoryTemplate {
  /** Tells templates apart within a run. */
  readonly name: string;
  /** Fills a directory that is not there yet, and leaves no process on it; runs once per run. */
  readonly make: (path: string) => Promise<void>;
}

const run = promisify(execFile);

const ensureTemplate = async ({ name, make }: DirectoryTemplate): Promise<string> => {
  const server = await sharedPostgres();
  const path = join(server.templates, name);
  if (existsSync(path)) return path;
  await withTestClient(socketUrl(server, "postgres"), async (admin) => {
    await lockTemplates(admin);
    if (existsSync(path)) return;
    const building = `${path}.${randomBytes(6).toString("hex")}`;
    await make(building);
    renameSync(building, path);
  });
  return path;
};

/** Copies the template to a path that is not there yet; owners and modes stay as they are. */
export const copyTemplate = async (template: DirectoryTemplate, path: string): Promise<void> => {
  await run("cp", ["-R", "-p", await ensureTemplate(template), path]);
};
