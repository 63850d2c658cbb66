// The channel results are told on, and what has to be in the database for it.

const CHANNEL = "bench_results";

export const LISTEN = `listen ${CHANNEL}`;

/** pg-boss keeps a job's output in its row: a completed row tells its output. */
export const TELL_COMPLETED_JOBS = [
  `create function bench_tell() returns trigger language plpgsql as $$
begin
  perform pg_notify('${CHANNEL}', json_build_object('id', new.id, 'output', new.output)::text);
  return null;
end $$`,
  `create trigger bench_tell after update on pgboss.job for each row
     when (new.state = 'completed' and old.state <> 'completed') execute function bench_tell()`,
];

/** graphile-worker deletes a job when it is done and keeps no output: the task stores it in a table of its own. */
export const MAKE_RESULTS = "create table if not exists bench_results (id uuid primary key, output jsonb not null)";

/** $1 id, $2 output. */
export const STORE_RESULT = {
  name: "bench.store-result",
  text: `with stored as (insert into bench_results (id, output) values ($1, $2) returning id, output)
select pg_notify('${CHANNEL}', json_build_object('id', id, 'output', output)::text) from stored`,
};
