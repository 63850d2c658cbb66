// Whom commands go to.

import type { Statement } from "../sql/database.ts";

export interface TargetRow {
  readonly target: string;
}

/** The targets of all registered tools, over all projects. */
export const REGISTERED_TARGETS: Statement = {
  name: "carrier.targets",
  text: `
select distinct target from resource.tools
 where status <> 'deleted' and not internal and target <> ''
 order by target`,
};
