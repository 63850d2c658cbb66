// How many results a contestant has stored, counted after the run.

/** Ours, beside the checker. */
export const COUNT_OURS = {
  calls: "select count(*) from state.calls where status = 'success' and result_card_id is not null",
  turns: "select count(*) from state.turns where status = 'success' and deliverable_card_id is not null",
} as const;

/** By the neighbour's key, in its PostgreSQL: rows with an output. */
export const COUNT_STORED = {
  "pg-boss": "select count(*) from pgboss.job where state = 'completed' and output is not null",
  "graphile-worker": "select count(*) from bench_results",
  dbos: "select count(*) from dbos.workflow_output where output is not null",
} as const;

/** Asked of Restate's own query door. */
export const COUNT_COMPLETED =
  "select count(*) as count from sys_invocation where status = 'completed' and completion_result = 'success'";
