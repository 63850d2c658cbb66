// Tests write the engine's tables through one door, `meddle` of the test kit, where each change has a name: when a table changes, its
// statements stand in one folder. Tests of the SQL layer itself try what a statement and a role may do, so they hold their own.

import { textOf } from "./sql.ts";
import { broken, type Violation } from "./violation.ts";
import { isShipped, lineOf, type Workspace, walk } from "./workspace.ts";

const WRITES =
  /\b(?:insert into|update|delete from|merge into|truncate(?: table)?) (?:only )?(?:cards|state|resource|bus)\.\w/;

const OWN_STATEMENTS = "packages/engine/src/sql/";

const isJudged = (path: string): boolean =>
  /^(?:tests|packages)\//.test(path) && !isShipped(path) && !path.startsWith(OWN_STATEMENTS);

export const checkMeddling = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const [path, source] of workspace.sources) {
    if (!isJudged(path)) continue;
    walk(source, (node) => {
      const text = textOf(node)?.toLowerCase().replaceAll(/\s+/g, " ");
      if (text !== undefined && WRITES.test(text))
        found.push(
          broken("meddling", path, lineOf(source, node), "give the change a name in meddle-*.sql.ts of the test kit"),
        );
    });
  }
  return found;
};
