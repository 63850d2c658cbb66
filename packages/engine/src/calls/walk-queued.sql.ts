// The distinct sessions or gates at which calls of a target wait. One look at the index for each value: a `distinct` would read every
// queued call of the target.

/** A common table `walk` with one column; `w` has the project and the target. Its last row is null and is to be left out. */
export const walkQueued = (column: "gate" | "session"): string => `with recursive walk as (
       (select ${column} from state.live_calls
         where project_id = w.project_id and target = w.target and ${column} is not null and status = 'queued' order by ${column} limit 1)
       union all
       select (select c.${column} from state.live_calls c
                where c.project_id = w.project_id and c.target = w.target and c.${column} is not null and c.${column} > k.${column} and c.status = 'queued'
                order by c.${column} limit 1)
         from walk k where k.${column} is not null)`;
