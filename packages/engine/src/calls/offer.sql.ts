// Back to the queue. Whoever offers a call again (a release, a claim nobody heard of, a watchdog) says when; two things
// may put it off: the time its caller asked for, and a tool that was paused meanwhile. Expressions over a call `c`.

// A scalar subquery: an EXISTS may be planned as one scan of all tools.
const IS_PAUSED = `(select t.status = 'paused' from resource.tools t
  where t.project_id = c.project_id and t.tool_name = c.tool_name)`;

/** A call of a paused tool waits outside the queue, whoever puts it there. */
export const offeredAt = (time: string): string => `case when ${IS_PAUSED} then 'infinity' else ${time} end`;

/** Null, or when to look whether the resume was missed: one that raced with the statement did not see the call. */
export const RECHECK_PAUSED = `case when ${IS_PAUSED} then now() + interval '5 seconds' end`;

/** When its caller wanted it: the queue's time counts from then. */
export const WANTED_AT = "c.queue_deadline - make_interval(secs => c.queue_timeout_seconds)";
