// Which processes belong to a watched process: its group, its session, their descendants, and processes seen to belong before.
// FA1. A number that now belongs to a later process is never touched: the start time must match.
// FA2. While a group has a member, the kernel gives its number to no other group. So when the leader is gone and the group is
//     not, its members are still ours.
// FA3. A descendant in a session of its own (a database backend, a daemon) still belongs, if it was seen once while its parent
//     lived, or was found by what it inherited (kin.ts).
// This file is part of the guard's program: it imports nothing but Node and its neighbours.

import { identityOf, type Kinship } from "./kin.ts";
import type { ProcessRow, ProcessTable } from "./process-table.ts";

/** The leader of a process group; `started` is undefined when its start time could not be read. */
export interface Leader extends Kinship {
  readonly pid: number;
}

const isReused = (leader: Leader, table: ProcessTable): boolean => {
  const row = table.get(leader.pid);
  return row !== undefined && leader.started !== undefined && row.started !== leader.started;
};

const isRoot = (row: ProcessRow, leader: Leader, reused: boolean, seen: ReadonlySet<string>): boolean =>
  seen.has(identityOf(row)) ||
  (!reused && (row.pid === leader.pid || row.pgid === leader.pid || row.session === leader.pid));

const childrenByParent = (table: ProcessTable): ReadonlyMap<number, readonly ProcessRow[]> => {
  const children = new Map<number, ProcessRow[]>();
  for (const row of table.values()) {
    const siblings = children.get(row.ppid);
    if (siblings === undefined) children.set(row.ppid, [row]);
    else siblings.push(row);
  }
  return children;
};

/** The living members, each once. `seen` holds what earlier calls returned, and is extended (FA3). */
export const findFamily = (leader: Leader, table: ProcessTable, seen: Set<string>): readonly ProcessRow[] => {
  const reused = isReused(leader, table);
  const children = childrenByParent(table);
  const family = new Map<number, ProcessRow>();
  const queue = [...table.values()].filter((row) => isRoot(row, leader, reused, seen));
  for (let row = queue.pop(); row !== undefined; row = queue.pop()) {
    if (family.has(row.pid)) continue;
    family.set(row.pid, row);
    queue.push(...(children.get(row.pid) ?? []));
  }
  const living = [...family.values()].filter((row) => !row.zombie);
  for (const row of living) seen.add(identityOf(row));
  return living;
};
