// Deliveries: the row is the queue. Those of one project to one receiver (host and port) stand in one line. A claim takes of every line
// what there is room for, the first open delivery of each order; a failed one puts off all that wait for its webhook, so a receiver that
// is away is asked by one request now and then.

import { given, inputOf, type RowIn } from "../sql/columns.sql.ts";
import type { Statement } from "../sql/database.ts";

const written = inputOf({
  deliveryId: given<string>("text"),
  projectId: given<string>("text"),
  webhookId: given<string>("text"),
  orderKey: given<string>("text"),
  event: given<string>("text"),
  body: given<string>("text"),
});

export type DeliveryWrite = RowIn<typeof written>;
export const bindDeliveries = written.bind;

/** A webhook that was removed meanwhile gets none. */
export const ADD_DELIVERIES: Statement = {
  name: "webhooks.add-deliveries",
  text: `
insert into state.webhook_deliveries (delivery_id, project_id, webhook_id, order_key, event, body, receiver)
select i.delivery_id, i.project_id, i.webhook_id, i.order_key, i.event, i.body, split_part(w.url, '/', 3)
  from ${written.from}
 cross join lateral (
   select k.url from resource.webhooks k where k.project_id = i.project_id and k.webhook_id = i.webhook_id offset 0) w
 order by i.ord`,
};

export interface ClaimedDeliveryRow {
  readonly delivery_id: string;
  readonly project_id: string;
  readonly webhook_id: string;
  readonly receiver: string;
  readonly event: string;
  readonly body: string;
  readonly attempts: number;
  readonly url: string;
  readonly secret: string;
}

const underWay = inputOf({
  projectId: given<string>("text"),
  receiver: given<string>("text"),
  count: given<number>("integer"),
});

/** What a process sends at this moment to one receiver for one project. */
export type LineUnderWay = RowIn<typeof underWay>;
export const bindUnderWay = underWay.bind;

/**
 * After what is under way: lease, its seconds, limit, the key that the secrets must be sealed with, places of a line, places of a
 * project. The lines are found by one look at the index for each, however many deliveries stand in them.
 */
export const CLAIM_DELIVERIES: Statement = {
  name: "webhooks.claim",
  text: `
with recursive busy as materialized (select i.project_id, i.receiver, i.count from ${underWay.from}),
lines as (
  (select d.project_id, d.receiver from state.webhook_deliveries d
    where d.status = 'pending' order by d.project_id, d.receiver limit 1)
  union all
  select n.project_id, n.receiver
    from lines l
   cross join lateral (
     select d.project_id, d.receiver from state.webhook_deliveries d
      where d.status = 'pending' and (d.project_id, d.receiver) > (l.project_id, l.receiver)
      order by d.project_id, d.receiver limit 1) n
),
room as materialized (
  select l.project_id, l.receiver,
         coalesce((select sum(b.count) from busy b where b.project_id = l.project_id), 0) as of_project,
         $${underWay.next + 4}::int - coalesce((
           select b.count from busy b where b.project_id = l.project_id and b.receiver = l.receiver), 0) as places
    from lines l
),
first as materialized (
  select r.project_id, r.of_project, d.place, d.available_at, d.seq
    from room r
   cross join lateral (
     select d.ctid as place, d.available_at, d.seq
       from state.webhook_deliveries d
      where d.project_id = r.project_id and d.receiver = r.receiver and d.status = 'pending' and d.available_at <= now()
        and (
          select e.seq from state.webhook_deliveries e
           where e.project_id = d.project_id and e.webhook_id = d.webhook_id and e.order_key = d.order_key
             and e.status = 'pending' and e.seq < d.seq
           order by e.seq limit 1) is null
        and (
          select k.key_id from resource.webhooks k
           where k.project_id = d.project_id and k.webhook_id = d.webhook_id) = $${underWay.next + 3}
      order by d.available_at, d.seq
      limit greatest(r.places, 0)
        for update of d skip locked) d
   where r.of_project < $${underWay.next + 5}::int
),
picked as materialized (
  select f.place
    from (
      select o.place, o.available_at, o.seq, o.of_project,
             row_number() over (partition by o.project_id order by o.available_at, o.seq) as nth
        from first o) f
   where f.of_project + f.nth <= $${underWay.next + 5}::int
   order by f.nth, f.available_at, f.seq
   limit $${underWay.next + 2}::int
),
taken as (
  update state.webhook_deliveries d
     set lease_id = $${underWay.next}, available_at = now() + make_interval(secs => $${underWay.next + 1}::double precision),
         attempts = d.attempts + 1
   where d.ctid = any (array(select p.place from picked p))
  returning d.delivery_id, d.seq, d.project_id, d.webhook_id, d.receiver, d.event, d.body, d.attempts
)
select t.delivery_id, t.project_id, t.webhook_id, t.receiver, t.event, t.body, t.attempts, w.url, w.secret
  from taken t
  join resource.webhooks w on w.project_id = any (array[t.project_id]) and w.webhook_id = t.webhook_id
 order by t.seq`,
};

/** $1 project, $2 delivery, $3 lease, $4 the receiver's status. */
export const END_DELIVERED: Statement = {
  name: "webhooks.delivered",
  text: `
update state.webhook_deliveries
   set status = 'delivered', ended_at = now(), lease_id = null, last_status = $4, last_error = null
 where project_id = $1 and delivery_id = $2 and lease_id = $3`,
};

/** $1 project, $2 delivery, $3 lease, $4 status or null, $5 reason. What waits behind it in its order goes on. */
export const END_DEAD: Statement = {
  name: "webhooks.dead",
  text: `
update state.webhook_deliveries
   set status = 'dead', ended_at = now(), lease_id = null, last_status = $4, last_error = $5
 where project_id = $1 and delivery_id = $2 and lease_id = $3`,
};

/** $1 project, $2 delivery, $3 lease, $4 status or null, $5 reason, $6 seconds: it, and what is due for the same webhook and not under way. */
export const PUT_OFF: Statement = {
  name: "webhooks.put-off",
  text: `
with failed as (
  update state.webhook_deliveries
     set lease_id = null, last_status = $4, last_error = $5, available_at = now() + make_interval(secs => $6::double precision)
   where project_id = $1 and delivery_id = $2 and lease_id = $3
  returning project_id, webhook_id, delivery_id
),
others as materialized (
  select d.place
    from failed f
   cross join lateral (
     select o.ctid as place from state.webhook_deliveries o
      where o.project_id = f.project_id and o.webhook_id = f.webhook_id and o.status = 'pending'
        and o.available_at <= now() and o.lease_id is null and o.delivery_id <> f.delivery_id
      order by o.order_key, o.seq limit 1000 for update skip locked) d
)
update state.webhook_deliveries d
   set available_at = now() + make_interval(secs => $6::double precision)
 where d.ctid = any (array(select o.place from others o))`,
};

/** In how many milliseconds the next one becomes due; 0 when all that wait are due, null when none waits. */
export const NEXT_DUE: Statement = {
  name: "webhooks.next-due",
  text: `
select coalesce(
  (select extract(epoch from d.available_at - now()) * 1000 from state.webhook_deliveries d
    where d.status = 'pending' and d.available_at > now() order by d.available_at, d.seq limit 1),
  (select 0 from state.webhook_deliveries d
    where d.status = 'pending' and d.available_at <= now() order by d.available_at, d.seq limit 1))::float8 as due_ms`,
};

const SHOWN =
  "d.delivery_id, d.project_id, d.webhook_id, d.event, d.status, d.attempts, d.available_at, d.last_status, d.last_error, d.created_at, d.ended_at";

export interface DeliveryRow {
  readonly delivery_id: string;
  readonly project_id: string;
  readonly webhook_id: string;
  readonly event: string;
  readonly status: "pending" | "delivered" | "dead";
  readonly attempts: number;
  readonly available_at: Date;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

/** $1 project, $2 webhook, $3 before this id, $4 status or null, $5 limit; newest first. */
export const LIST_DELIVERIES: Statement = {
  name: "webhooks.list-deliveries",
  text: `
select ${SHOWN} from state.webhook_deliveries d
 where d.project_id = $1 and d.webhook_id = $2 and d.delivery_id < $3 and ($4::text is null or d.status = $4::text)
 order by d.project_id desc, d.webhook_id desc, d.delivery_id desc limit $5::int`,
};

/** $1 project, $2 delivery: it is sent again, whatever became of it. */
export const REPLAY_DELIVERY: Statement = {
  name: "webhooks.replay",
  text: `
update state.webhook_deliveries d
   set status = 'pending', attempts = 0, available_at = now(), ended_at = null, last_error = null, lease_id = null
 where d.project_id = $1 and d.delivery_id = $2
returning ${SHOWN}`,
};

/** Delivered ones are kept for a week, dead ones for a month. */
export const DROP_OLD_DELIVERIES: Statement = {
  name: "webhooks.drop-old-deliveries",
  text: `
delete from state.webhook_deliveries
 where ctid = any (array(
   select ctid from state.webhook_deliveries
    where ended_at is not null and ended_at < now() - interval '7 days'
      and (status = 'delivered' or ended_at < now() - interval '30 days')
    order by ended_at limit 1000))`,
};
