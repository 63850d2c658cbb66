// Deliveries: the row is the queue. A claim takes the first open delivery of each order; a failed one puts off all that wait for its
// receiver, so a receiver that is away is asked by one request now and then and holds up no other.

import type { Statement } from "../sql/database.ts";
import { setInput } from "../sql/input.sql.ts";

export interface DeliveryWrite {
  readonly deliveryId: string;
  readonly projectId: string;
  readonly webhookId: string;
  readonly orderKey: string;
  readonly event: string;
  readonly body: string;
}

const written = setInput<DeliveryWrite>([
  ["deliveryId", "text"],
  ["projectId", "text"],
  ["webhookId", "text"],
  ["orderKey", "text"],
  ["event", "text"],
  ["body", "text"],
]);
export const bindDeliveries = written.bind;

/** A webhook that was removed meanwhile gets none. */
export const ADD_DELIVERIES: Statement = {
  name: "webhooks.add-deliveries",
  text: `
insert into state.webhook_deliveries (delivery_id, project_id, webhook_id, order_key, event, body)
select i.delivery_id, i.project_id, i.webhook_id, i.order_key, i.event, i.body
  from ${written.from}
 where (select true from resource.webhooks w where w.project_id = i.project_id and w.webhook_id = i.webhook_id)
 order by i.ord`,
};

export interface ClaimedDeliveryRow {
  readonly delivery_id: string;
  readonly project_id: string;
  readonly webhook_id: string;
  readonly event: string;
  readonly body: string;
  readonly attempts: number;
  readonly url: string;
  readonly secret: string;
}

/** $1 lease, $2 its seconds, $3 limit, $4 the key that the secrets must be sealed with, $5 webhooks that have enough under way. */
export const CLAIM_DELIVERIES: Statement = {
  name: "webhooks.claim",
  text: `
with picked as materialized (
  select d.ctid as place
    from state.webhook_deliveries d
   where d.status = 'pending' and d.available_at <= now()
     and not d.webhook_id = any ($5::text[])
     and (
       select e.seq from state.webhook_deliveries e
        where e.project_id = d.project_id and e.webhook_id = d.webhook_id and e.order_key = d.order_key
          and e.status = 'pending' and e.seq < d.seq
        order by e.seq limit 1) is null
     and (
       select k.key_id from resource.webhooks k where k.project_id = d.project_id and k.webhook_id = d.webhook_id) = $4
   order by d.available_at, d.seq
   limit $3::int
     for update of d skip locked
),
taken as (
  update state.webhook_deliveries d
     set lease_id = $1, available_at = now() + make_interval(secs => $2::double precision), attempts = d.attempts + 1
   where d.ctid = any (array(select p.place from picked p))
  returning d.delivery_id, d.seq, d.project_id, d.webhook_id, d.event, d.body, d.attempts
)
select t.delivery_id, t.project_id, t.webhook_id, t.event, t.body, t.attempts, w.url, w.secret
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

/** In how many milliseconds the next one is due; null when none waits. */
export const NEXT_DUE: Statement = {
  name: "webhooks.next-due",
  text: `
select (extract(epoch from d.available_at - now()) * 1000)::float8 as due_ms
  from state.webhook_deliveries d
 where d.status = 'pending' and d.available_at > '-infinity'
 order by d.available_at, d.seq limit 1`,
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
