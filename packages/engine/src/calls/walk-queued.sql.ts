// The distinct sessions or gates at which calls of a target wait. One look at the index for each value: a `distinct` would read every
// queued call of the target.

/** A common table with one column; `w` has the project and the target. Its last row is null and is to be left out. */
const walk = (name: string, column: "gate" | "session", within = ""): string => `${name} as (
       (select ${column} from state.live_calls c
         where c.project_id = w.project_id and c.target = w.target and c.${column} is not null and c.status = 'queued' ${within}
         order by c.${column} limit 1)
       union all
       select (select c.${column} from state.live_calls c
                where c.project_id = w.project_id and c.target = w.target and c.${column} is not null and c.${column} > k.${column} and c.status = 'queued' ${within}
                order by c.${column} limit 1)
         from ${name} k where k.${column} is not null)`;

/** The common table is called `walk`. */
export const WALK_SESSIONS = `with recursive ${walk("walk", "session")}`;

/** Gates in a circle: those behind `w.behind` first, then those before it. */
export const walkGates = (most: number): string => `
     with recursive ${walk("later", "gate", "and c.gate > w.behind")},
     ${walk("earlier", "gate", "and c.gate <= w.behind")}
     select gate from (
       select gate from later where gate is not null
       union all
       select gate from earlier where gate is not null) g limit ${most}`;
