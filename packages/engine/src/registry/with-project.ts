// A change of a project's registry: the project exists, and no other process changes its registry until the commit.

import { isToken, showName, ToolplaneError } from "@toolplane/protocol";
import type { Database, Queryer } from "../sql/database.ts";
import { LOCK_PROJECT } from "./projects.sql.ts";

export const noProject = (projectId: string): ToolplaneError =>
  new ToolplaneError("not_found", `there is no project ${showName(projectId)}`);

export const withProject = async <T>(
  db: Database,
  projectId: string,
  work: (tx: Queryer) => Promise<T>,
): Promise<T> => {
  if (!isToken(projectId)) throw noProject(projectId);
  return db.transaction(async (tx) => {
    if ((await tx.query(LOCK_PROJECT, [projectId])).length === 0) throw noProject(projectId);
    return work(tx);
  });
};
