// The owners of any number of things, in one statement. For each thing: which turns does it lead to, and is it the agent's
// already? Then the turns are followed upwards, to the turns that asked for them.
//   "offset 0" makes each step a lookup by key, whatever the planner believes about a small table.

import type { Statement } from "../sql/database.ts";

export interface OwnershipRow {
  readonly id: string;
  readonly own: boolean;
}

/** Delegation ends long before; a longer chain is a mistake and is not followed, so what it leads to is not owned. */
const MAX_ANCESTORS = 64;

const turnById = (id: string): string => `
 cross join lateral (
   select x.agent_turn_id, x.parent_agent_turn_id,
          (x.agent_id = $2 or x.source_agent_id = $2 or x.parent_agent_id = $2) is true as own
     from state.turns x where x.project_id = $1 and x.agent_turn_id = ${id} offset 0) t`;

/** $1 project, $2 agent, $3 ids. `roots` gives (id, turn_id, own); an id without a row does not exist. */
const ownership = (name: string, roots: string): Statement => ({
  name: `ownership.${name}`,
  text: `
with recursive roots as materialized (${roots}
),
line (id, turn_id, own, depth) as (
  select id, turn_id collate "C", own, 0 from roots
  union
  select l.id, t.parent_agent_turn_id collate "C", t.own, l.depth + 1
    from line l${turnById("l.turn_id")}
   where not l.own and l.depth <= ${MAX_ANCESTORS}
)
select id, bool_or(own) as own from line group by id`,
});

const ASKED = "unnest($3::text[]) as i (id)";

const turnsOfBox = (box: string, column: "context_box_id" | "output_box_id", more = ""): string => `
   cross join lateral (
     select x.agent_turn_id from state.turns x where x.${column} = ${box} and x.project_id || '' = $1${more} offset 0) t`;

/** The agent's own profile box. `box` and `id` are columns of `from`. */
const profileRoots = (from: string, box: string, id: string): string => `
  select ${id}, null, true
    from ${from}
   cross join lateral (
     select x.profile_box_id from resource.agents x where x.project_id = $1 and x.agent_id = $2 offset 0) a
   where a.profile_box_id = ${box}`;

/** All turns that began with a box or write into it, of any owner. */
const boxRoots = (from: string, box: string, id: string): string => `
  select ${id}, t.agent_turn_id, false from ${from}${turnsOfBox(box, "context_box_id")}
  union all
  select ${id}, t.agent_turn_id, false from ${from}${turnsOfBox(box, "output_box_id")}
  union all${profileRoots(from, box, id)}`;

/**
 * The boxes that the agent itself was given: what lies in them is its own. Turns that it started give it no more than their own
 * cards: an agent that is asked again writes into a box with earlier cards, and a clone begins with those of its origin.
 */
const givenRoots = (from: string, box: string, id: string): string => `
  select ${id}, null, true from ${from}${turnsOfBox(box, "context_box_id", " and x.agent_id || '' = $2")}
  union all
  select ${id}, null, true from ${from}${turnsOfBox(box, "output_box_id", " and x.agent_id || '' = $2")}
  union all${profileRoots(from, box, id)}`;

export const OWN_TURNS = ownership(
  "turns",
  `
  select i.id, i.id as turn_id, t.own from ${ASKED}${turnById("i.id")}`,
);

export const OWN_CALLS = ownership(
  "calls",
  `
  select i.id, c.agent_turn_id as turn_id, c.agent_id = $2 as own
    from ${ASKED}
   cross join lateral (
     select x.agent_id, x.agent_turn_id from state.calls x where x.project_id = $1 and x.tool_call_id = i.id offset 0) c`,
);

export const OWN_BOXES = ownership(
  "boxes",
  `
  select i.id, null::text as turn_id, false as own
    from ${ASKED}
   cross join lateral (select from cards.boxes x where x.project_id = $1 and x.box_id = i.id offset 0) b
  union all${boxRoots(ASKED, "i.id", "i.id")}`,
);

const CARD = `
   cross join lateral (
     select x.author_id, x.agent_turn_id, x.tool_call_id from cards.cards x where x.project_id = $1 and x.card_id = i.id offset 0) c`;

const HOLDING = `${ASKED}
   cross join lateral (
     select x.box_id from cards.box_cards x where x.card_id = i.id and x.project_id || '' = $1 offset 0) h`;

/** Made by the agent, about a turn or a call of its own, or in a box that it was given. */
export const OWN_CARDS = ownership(
  "cards",
  `
  select i.id, c.agent_turn_id as turn_id, c.author_id = $2 as own from ${ASKED}${CARD}
  union all
  select i.id, k.agent_turn_id, k.agent_id = $2
    from ${ASKED}${CARD}
   cross join lateral (
     select x.agent_id, x.agent_turn_id from state.calls x where x.project_id = $1 and x.tool_call_id = c.tool_call_id offset 0) k
  union all${givenRoots(HOLDING, "h.box_id", "i.id")}`,
);
