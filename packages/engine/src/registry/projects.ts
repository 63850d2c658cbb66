// Projects: the boundary of everything else.
//   PJ1. A project takes no new calls while it is not active; running calls may finish.
//   PJ2. Deleting is refused while work is open, unless forced. It first closes the project, then removes its rows in pieces, the
//       project's own row last: an interrupted delete is finished by the next one.
//   PJ3. A limit changes in one commit with the definition that carries it to models and to the checks of arguments.
//   PJ4. What the configuration file sets is a ceiling for every other change of the limits (CE1, CE2).

import { type JsonObject, ToolplaneError } from "@toolplane/protocol";
import {
  bootstrapTools,
  checkCeiling,
  DEFAULT_FORK_JOIN_TASKS,
  type ProjectLimits,
  type ProjectStatus,
  parseProjectCreate,
  parseProjectPatch,
  planFileLimits,
  type ResolvedLimits,
  resolveLimits,
  type StoredLimits,
} from "@toolplane/protocol/registry";
import { type Actor, recordActs } from "../audit/audit.ts";
import { FORGET_TOKENS } from "../gates/admission.sql.ts";
import { FORGET_TARGETS } from "../gates/breakers.sql.ts";
import { type Clock, systemClock } from "../ports/clock.ts";
import type { Ground } from "../ports/ground.ts";
import type { Queryer } from "../sql/database.ts";
import { CLOSE_PROJECT, DELETE_PROJECT, HAS_OPEN_WORK, SWEEPS } from "./delete-project.sql.ts";
import { createKnownProjects } from "./known-projects.ts";
import { GATE_PROJECT_CALLS } from "./late-calls.sql.ts";
import { createLateCalls } from "./late-calls.ts";
import { type Page, type PageRequest, parsePage, toPage } from "./page.ts";
import {
  CREATE_PROJECT,
  LIST_PROJECTS,
  LIST_UNLIMITED,
  PATCH_PROJECT,
  type ProjectRow,
  READ_PROJECT,
} from "./projects.sql.ts";
import { READ_TOOLS } from "./tools.sql.ts";
import type { Tools } from "./tools.ts";
import { noProject, withProject } from "./with-project.ts";

export interface RegisteredProject {
  readonly projectId: string;
  readonly title: string;
  readonly status: ProjectStatus;
  readonly ownerId: string;
  /** Every limit, with its default where the project sets none. */
  readonly limits: ResolvedLimits;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface DeleteProjectOptions {
  readonly force?: boolean | undefined;
  readonly by?: Actor | undefined;
}

export interface Projects {
  /** `callerId` owns it when the request names no owner. `conflict` when the id is taken. */
  createProject(request: unknown, callerId: string, by?: Actor): Promise<RegisteredProject>;
  getProject(projectId: string): Promise<RegisteredProject | undefined>;
  /** Whether the project exists; from memory when it was seen a moment ago. */
  isKnown(projectId: string): Promise<boolean>;
  listProjects(request?: PageRequest): Promise<Page<RegisteredProject>>;
  patchProject(projectId: string, patch: unknown, by?: Actor): Promise<RegisteredProject>;
  /** The limits that the configuration file has for the project; see `planFileLimits`. */
  applyFileLimits(projectId: string, limits: ProjectLimits): Promise<RegisteredProject>;
  /** Updates the starting tools of older projects to their limits; returns how many were changed. */
  renewTools(): Promise<number>;
  /** `conflict` while calls or turns are open, unless forced. */
  deleteProject(projectId: string, options?: DeleteProjectOptions): Promise<void>;
}

export interface ProjectsOptions extends Pick<Ground, "db" | "doorbell" | "ids"> {
  readonly clock?: Clock | undefined;
  readonly tools: Pick<Tools, "upsertTools">;
  /** The target the bundled tool service listens on; see the protocol's list of tools a project starts with. */
  readonly bundledTarget?: string | undefined;
  /** Further definitions a project starts with. */
  readonly bundledTools?: readonly JsonObject[] | undefined;
}

interface ProjectChange {
  readonly title?: string | undefined;
  readonly status?: ProjectStatus | undefined;
  readonly limits?: StoredLimits | undefined;
}

const FORK_JOIN = "fork_join";
const DEFAULT_BUNDLED_TARGET = "bundled";

/** Rows of one piece: a few tens of milliseconds, with their indexes. */
const SWEEP_ROWS = 5_000;

const toProject = (row: ProjectRow): RegisteredProject => ({
  projectId: row.project_id,
  title: row.title,
  status: row.status,
  ownerId: row.owner_id,
  limits: resolveLimits(row.limits),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export const createProjects = (options: ProjectsOptions): Projects => {
  const { db, doorbell, ids, tools, bundledTarget = DEFAULT_BUNDLED_TARGET, bundledTools = [] } = options;
  const { clock = systemClock } = options;
  const late = createLateCalls({ db, clock, doorbell });
  const seeds: readonly JsonObject[] = [...bootstrapTools({ bundledTarget }), ...bundledTools];

  /** A project that was made without these tools gets none. */
  const writeForkJoin = async (tx: Queryer, projectId: string, limits: ProjectLimits): Promise<void> => {
    const [known] = await tx.query<{ status: string }>(READ_TOOLS, [projectId, [FORK_JOIN]]);
    if (known === undefined || known.status === "deleted") return;
    const forkJoinTasks = resolveLimits(limits).fork_join_tasks;
    const own = bootstrapTools({ bundledTarget, forkJoinTasks });
    const definition = own.filter(({ tool_name }) => tool_name === FORK_JOIN);
    const [written] = await tools.upsertTools(projectId, definition, { internal: true, tx });
    if (written instanceof ToolplaneError) throw written;
  };

  const sweep = async (projectId: string): Promise<void> => {
    for (const statement of SWEEPS) {
      for (let removed = SWEEP_ROWS; removed === SWEEP_ROWS; ) {
        const [row] = await db.query<{ removed: number }>(statement, [projectId, SWEEP_ROWS]);
        removed = row?.removed ?? 0;
      }
    }
  };

  const getProject: Projects["getProject"] = async (projectId) => {
    const [row] = projectId.includes("\u0000") ? [] : await db.query<ProjectRow>(READ_PROJECT, [projectId]);
    return row === undefined ? undefined : toProject(row);
  };
  const known = createKnownProjects({
    doorbell,
    clock,
    exists: async (projectId) => (await getProject(projectId)) !== undefined,
  });

  const change = async (
    projectId: string,
    by: Actor | undefined,
    plan: (stored: StoredLimits) => ProjectChange,
  ): Promise<RegisteredProject> => {
    const { row, limits } = await withProject(db, projectId, async (tx) => {
      const [stored] = await tx.query<ProjectRow>(READ_PROJECT, [projectId]);
      if (stored === undefined) throw noProject(projectId);
      const { title, status, limits } = plan(stored.limits);
      const values = [projectId, title ?? null, status ?? null, JSON.stringify(limits ?? {})];
      const [patched] = await tx.query<ProjectRow>(PATCH_PROJECT, values);
      if (patched === undefined) throw noProject(projectId);
      if (limits?.fork_join_tasks !== undefined) await writeForkJoin(tx, projectId, patched.limits);
      if (limits?.concurrency != null || limits?.target_breaker != null) {
        await tx.query(GATE_PROJECT_CALLS, [projectId]);
        await tx.afterCommit(() => late.gateProject(projectId));
      }
      // It is gone, or it is new: a breaker that was set before is another one.
      if (limits?.target_breaker === null || (limits?.target_breaker != null && stored.limits.target_breaker == null))
        await tx.query(FORGET_TARGETS, [projectId]);
      if (limits?.rate === null) await tx.query(FORGET_TOKENS, [projectId]);
      const detail = {
        ...(title === undefined ? {} : { title }),
        ...(status === undefined ? {} : { status }),
        ...(limits === undefined ? {} : (JSON.parse(JSON.stringify(limits)) as JsonObject)),
      };
      await recordActs(tx, by, [{ projectId, act: "project.changed", subject: projectId, detail }]);
      return { row: patched, limits };
    });
    doorbell.ring("registry");
    // What waits at the gate of the project may pass.
    if (limits !== undefined) doorbell.ring("sessions");
    return toProject(row);
  };

  return {
    async createProject(request, callerId, by) {
      const asked = parseProjectCreate(request);
      // The tail of a UUIDv7 is its random part.
      const projectId = asked.project_id ?? `proj_${ids.uuid().slice(-12)}`;
      const created = await db.transaction(async (tx) => {
        const [row] = await tx.query<ProjectRow>(CREATE_PROJECT, [projectId, asked.title, asked.owner_id ?? callerId]);
        if (row === undefined)
          throw new ToolplaneError("conflict", `project ${projectId} exists`, { detail: { project_id: projectId } });
        const seeded = asked.bootstrap ? await tools.upsertTools(projectId, seeds, { internal: true, tx }) : [];
        const failed = seeded.find((result) => result instanceof ToolplaneError);
        if (failed !== undefined) throw failed;
        await recordActs(tx, by, [{ projectId, act: "project.created", subject: projectId }]);
        return row;
      });
      doorbell.ring("registry");
      return toProject(created);
    },
    getProject,
    isKnown: known.isKnown,
    async listProjects(request = {}) {
      const bounds = parsePage(request);
      const rows = await db.query<ProjectRow>(LIST_PROJECTS, [bounds.after, bounds.limit + 1]);
      return toPage(rows, bounds, (row) => row.project_id, toProject);
    },
    async patchProject(projectId, patch, by) {
      const asked = parseProjectPatch(patch);
      return change(projectId, by, (stored) => {
        if (asked.limits !== undefined) checkCeiling(asked.limits, stored);
        return asked;
      });
    },
    applyFileLimits: (projectId, limits) =>
      change(projectId, undefined, (stored) => ({ limits: planFileLimits(limits, stored) })),
    async renewTools() {
      const rows = await db.query<{ project_id: string }>(LIST_UNLIMITED, [FORK_JOIN, String(DEFAULT_FORK_JOIN_TASKS)]);
      for (const { project_id: projectId } of rows) {
        await withProject(db, projectId, async (tx) => {
          const [project] = await tx.query<ProjectRow>(READ_PROJECT, [projectId]);
          if (project !== undefined) await writeForkJoin(tx, projectId, project.limits);
        });
      }
      if (rows.length > 0) doorbell.ring("registry");
      return rows.length;
    },
    async deleteProject(projectId, { force = false, by } = {}) {
      await withProject(db, projectId, async (tx) => {
        const [work] = await tx.query<{ open: boolean }>(HAS_OPEN_WORK, [projectId]);
        if (work?.open === true && !force)
          throw new ToolplaneError("conflict", `project ${projectId} has open calls or turns: stop them, or use force`);
        await tx.query(CLOSE_PROJECT, [projectId]);
        // An act of the whole plane, because the project's own rows are deleted with it.
        await recordActs(tx, by, [{ projectId: null, act: "project.deleted", subject: projectId, detail: { force } }]);
      });
      doorbell.ring("registry");
      await sweep(projectId);
      await db.query(DELETE_PROJECT, [projectId]);
      // A dispatch that had read the project before it was closed may have committed meanwhile.
      await sweep(projectId);
      doorbell.ring("registry");
    },
  };
};
