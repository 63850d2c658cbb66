// Profiles: an upload is a new sys.profile card in a new box; the row by name points to the newest. Agents keep the box they
// were given, so a new upload does not change agents at work.

import { type Card, canonicalText, isStorable, type JsonObject, showName, ToolplaneError } from "@toolplane/protocol";
import { createProfileCard } from "@toolplane/protocol/agents";
import { type Profile, parseProfile, parseProfileCard, profileKey } from "@toolplane/protocol/registry";
import { type Actor, recordActs } from "../audit/audit.ts";
import type { Boxes } from "../cards/boxes.ts";
import type { CardStore } from "../cards/card-store.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import { type Page, type PageRequest, parsePage, toPage } from "./page.ts";
import { DELETE_PROFILE, LIST_PROFILES, type ProfileRow, READ_PROFILE, WRITE_PROFILE } from "./profiles.sql.ts";
import { withProject } from "./with-project.ts";

export interface RegisteredProfile {
  readonly projectId: string;
  readonly profileBoxId: string;
  readonly name: string;
  readonly workerTarget: string;
  readonly tags: readonly string[];
  readonly systemPrompt: string;
  readonly updatedAt: string;
}

export interface ProfileUpsertResult extends RegisteredProfile {
  readonly outcome: "created" | "replaced" | "unchanged";
}

export interface Profiles {
  upsertProfile(projectId: string, upload: unknown, by?: Actor): Promise<ProfileUpsertResult>;
  /** By name, whatever its case. */
  getProfile(projectId: string, name: string, tx?: Queryer): Promise<RegisteredProfile | undefined>;
  listProfiles(projectId: string, request?: PageRequest): Promise<Page<RegisteredProfile>>;
  deleteProfile(projectId: string, name: string, by?: Actor): Promise<void>;
  /** What a profile box holds; undefined when it is not a profile box of this project. */
  loadProfile(projectId: string, profileBoxId: string, tx?: Queryer): Promise<Profile | undefined>;
}

export interface ProfilesOptions extends Pick<Ground, "db" | "doorbell" | "ids" | "clock"> {
  readonly cards: Pick<CardStore, "putCards" | "getCards">;
  readonly boxes: Pick<Boxes, "createBox" | "loadBox">;
  /** Throws for a profile that cannot work, for example one whose endpoint may not be reached. */
  readonly checkProfile?: CheckProfile | undefined;
}

export type CheckProfile = (profile: Profile, projectId: string) => void;

const toProfile = (projectId: string, row: ProfileRow): RegisteredProfile => ({
  projectId,
  profileBoxId: row.profile_box_id,
  name: row.name,
  workerTarget: row.worker_target,
  tags: row.tags,
  systemPrompt: row.system_prompt,
  updatedAt: row.updated_at.toISOString(),
});

const noProfile = (projectId: string, name: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${projectId} has no profile ${showName(name)}`);

const profileOf = (card: Card | undefined): Profile | undefined =>
  card?.content.__type__ === "JsonContent" && card.type === "sys.profile"
    ? parseProfileCard(card.content.data)
    : undefined;

export const createProfiles = (options: ProfilesOptions): Profiles => {
  const { db, doorbell, ids, clock, cards, boxes } = options;
  const load = async (projectId: string, boxId: string, tx?: Queryer): Promise<Profile | undefined> => {
    const box = await boxes.loadBox(projectId, boxId, tx);
    if (box === undefined) return undefined;
    return profileOf((await cards.getCards(projectId, box.cardIds, tx)).at(-1));
  };

  const write = async (tx: Queryer, projectId: string, profile: Profile): Promise<ProfileRow> => {
    const card = createProfileCard({
      cardId: ids.uuid(),
      projectId,
      createdAt: new Date(clock.now()).toISOString(),
      profile: profile as unknown as JsonObject,
      name: profile.name,
      workerTarget: profile.worker_target,
      tags: profile.tags,
    });
    await cards.putCards(projectId, [card], { tx });
    const boxId = await boxes.createBox(projectId, [card.card_id], { tx });
    const values = [boxId, profile.worker_target, profile.tags, profile.system_prompt_template];
    const [row] = await tx.query<ProfileRow>(WRITE_PROFILE, [
      projectId,
      profileKey(profile.name),
      profile.name,
      ...values,
    ]);
    if (row === undefined) throw new ToolplaneError("internal_error", "writing a profile gave no row");
    return row;
  };

  return {
    async upsertProfile(projectId, upload, by) {
      const profile = parseProfile(upload);
      options.checkProfile?.(profile, projectId);
      const result = await withProject(db, projectId, async (tx): Promise<ProfileUpsertResult> => {
        const [known] = await tx.query<ProfileRow>(READ_PROFILE, [projectId, profileKey(profile.name)]);
        const before = known === undefined ? undefined : await load(projectId, known.profile_box_id, tx);
        // A configuration that is applied unchanged at every start must not leave a new box each time.
        if (known !== undefined && before !== undefined && canonicalText(before) === canonicalText(profile))
          return { ...toProfile(projectId, known), outcome: "unchanged" };
        const row = await write(tx, projectId, profile);
        const outcome = known === undefined ? "created" : "replaced";
        const detail = { outcome, profile_box_id: row.profile_box_id };
        await recordActs(tx, by, [{ projectId, act: "profile.applied", subject: profile.name, detail }]);
        return { ...toProfile(projectId, row), outcome };
      });
      if (result.outcome !== "unchanged") doorbell.ring("registry");
      return result;
    },
    async getProfile(projectId, name, tx = db) {
      const [row] = isStorable(name) ? await tx.query<ProfileRow>(READ_PROFILE, [projectId, profileKey(name)]) : [];
      return row === undefined ? undefined : toProfile(projectId, row);
    },
    async listProfiles(projectId, request = {}) {
      const bounds = parsePage(request);
      const rows = await db.query<ProfileRow>(LIST_PROFILES, [projectId, bounds.after, bounds.limit + 1]);
      return toPage(
        rows,
        bounds,
        (row) => row.name_key,
        (row) => toProfile(projectId, row),
      );
    },
    async deleteProfile(projectId, name, by) {
      await withProject(db, projectId, async (tx) => {
        const gone = isStorable(name) ? await tx.query(DELETE_PROFILE, [projectId, profileKey(name)]) : [];
        if (gone.length === 0) throw noProfile(projectId, name);
        await recordActs(tx, by, [{ projectId, act: "profile.deleted", subject: name }]);
      });
      doorbell.ring("registry");
    },
    loadProfile: load,
  };
};
