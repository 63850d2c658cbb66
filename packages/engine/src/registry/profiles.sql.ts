// Statements of profiles. name_key is the folded name, so a lookup can never find two (W-30).

import type { Statement } from "../sql/database.ts";
import { withinPage } from "./page-bytes.sql.ts";

export interface ProfileRow {
  readonly name_key: string;
  readonly name: string;
  readonly profile_box_id: string;
  readonly worker_target: string;
  readonly tags: readonly string[];
  readonly system_prompt: string;
  readonly updated_at: Date;
}

const COLUMNS = "name_key, name, profile_box_id, worker_target, tags, system_prompt, updated_at";

export const READ_PROFILE: Statement = {
  name: "profiles.read",
  text: `select ${COLUMNS} from resource.profiles where project_id = $1 and name_key = $2`,
};

/** $1 project, $2 after, $3 limit. */
export const LIST_PROFILES: Statement = {
  name: "profiles.list",
  text: withinPage(`
select ${COLUMNS}, octet_length(system_prompt) as weight, row_number() over (order by name_key) as place
  from resource.profiles where project_id = $1 and name_key > $2 order by name_key limit $3::int`),
};

/** $1 project, $2 key, $3 name, $4 box, $5 worker target, $6 tags, $7 prompt. */
export const WRITE_PROFILE: Statement = {
  name: "profiles.write",
  text: `
insert into resource.profiles (project_id, name_key, name, profile_box_id, worker_target, tags, system_prompt)
values ($1, $2, $3, $4, $5, $6::text[], $7)
    on conflict (project_id, name_key) do update
   set name = excluded.name, profile_box_id = excluded.profile_box_id, worker_target = excluded.worker_target,
       tags = excluded.tags, system_prompt = excluded.system_prompt, updated_at = now()
returning ${COLUMNS}`,
};

export const DELETE_PROFILE: Statement = {
  name: "profiles.delete",
  text: "delete from resource.profiles where project_id = $1 and name_key = $2 returning name_key",
};
