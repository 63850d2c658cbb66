// The row a profile is found by. Each upload writes a new card and a new box; the row points at the newest.
// Rows are unique by folded name, the same key lookups use, so a lookup can never find two (W-30).

import { z } from "zod";
import { displayName, subjectToken, tagList, timestamp } from "./field-shapes.ts";
import { type Profile, profileKey } from "./profile.ts";

export const profileRowSchema = z
  .strictObject({
    project_id: subjectToken,
    profile_box_id: z.uuid(),
    name: displayName,
    worker_target: subjectToken,
    tags: tagList,
    system_prompt_compiled: z.string(),
    updated_at: timestamp,
  })
  .readonly();

export type ProfileRow = z.infer<typeof profileRowSchema>;

export interface ProfileUpsertInput {
  readonly projectId: string;
  readonly profile: Profile;
  /** The box made for this upload's card. */
  readonly profileBoxId: string;
  readonly now: string;
}

export interface ProfileUpsertPlan {
  readonly outcome: "insert" | "replace";
  /** Unique within the project. */
  readonly key: string;
  readonly row: ProfileRow;
}

export const findProfile = <R extends Pick<ProfileRow, "name">>(rows: readonly R[], name: string): R | undefined => {
  const key = profileKey(name);
  return rows.find((row) => profileKey(row.name) === key);
};

export const planProfileUpsert = (
  rows: readonly Pick<ProfileRow, "name">[],
  { projectId, profile, profileBoxId, now }: ProfileUpsertInput,
): ProfileUpsertPlan => ({
  outcome: findProfile(rows, profile.name) === undefined ? "insert" : "replace",
  key: profileKey(profile.name),
  row: {
    project_id: projectId,
    profile_box_id: profileBoxId,
    name: profile.name,
    worker_target: profile.worker_target,
    tags: profile.tags,
    system_prompt_compiled: profile.system_prompt_template,
    updated_at: now,
  },
});
