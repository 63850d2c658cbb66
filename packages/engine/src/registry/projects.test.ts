import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld } from "../../test/registry-world.ts";
import { insertSampleCall } from "../../test/sample-calls.ts";
import { sampleCard } from "../../test/sample-cards.ts";
import { sampleTool } from "../../test/sample-tools.ts";

let world: RegistryWorld;

beforeAll(async () => {
  world = await openRegistryWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.doorbell.rings.length = 0;
});

describe("creating", () => {
  test("[UTP-5.8-E1] without an id one is minted, without an owner the caller owns it", async () => {
    const project = await world.projects.createProject({ title: "Mine" }, "alice");
    expect(project).toMatchObject({ title: "Mine", status: "active", ownerId: "alice" });
    expect(project.projectId).toMatch(/^proj_[0-9a-f]{12}$/);
    expect(project.createdAt).toBe(project.updatedAt);
    expect(await world.projects.getProject(project.projectId)).toEqual(project);
    expect(world.doorbell.rings).toEqual(["registry"]);
  });

  test("[UTP-5.8-E2] bootstrap is the default and seeds the project manager's tools and emit_marker", async () => {
    const seeded = await world.projects.createProject({ title: "x" }, "a");
    const names = async (projectId: string) =>
      (await world.tools.listTools(projectId, { includeInternal: true })).items.map((tool) => tool.toolName);
    const pmo = ["ask_expert", "delegate_async", "fork_join", "launch_principal", "provision_agent"];
    expect((await names(seeded.projectId)).sort()).toEqual([...pmo, "emit_marker"].sort());
    const bare = await world.projects.createProject({ title: "x", bootstrap: false }, "a");
    expect(await names(bare.projectId)).toEqual([]);
  });

  test("[UTP-13.2-E6] [UTP-5.8-4] an id that is taken is a conflict, also for two at once", async () => {
    const make = () => world.projects.createProject({ project_id: "taken", title: "x" }, "a");
    const outcomes = await Promise.allSettled([make(), make(), make()]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(make()).rejects.toMatchObject({ code: "conflict", detail: { project_id: "taken" } });
  });

  test.each([
    {},
    { title: "" },
    { title: "x", project_id: "a.b" },
    { title: "x", project_id: "" },
    { title: "x", owner_id: "" },
    { title: "x", surprise: 1 },
    { title: "x", bootstrap: "yes" },
    { title: "a\u0000b" },
  ])("[UTP-5.8-E3] %j is refused", async (request) => {
    await expect(world.projects.createProject(request, "a")).rejects.toMatchObject({ code: "bad_request" });
  });
});

describe("reading and changing", () => {
  test("[UTP-13.2-E7] every project is listed exactly once, page by page", async () => {
    for (let i = 0; i < 5; i++)
      await world.projects.createProject({ project_id: `list_${i}`, title: "x", bootstrap: false }, "a");
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await world.projects.listProjects({ limit: 2, cursor });
      seen.push(...page.items.map((project) => project.projectId));
      if (page.nextCursor === undefined) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([...new Set(seen)].sort());
    expect(seen).toEqual(expect.arrayContaining(["list_0", "list_4"]));
  });

  test("[UTP-W30-E1] a patch changes what it names; updated_at moves with a change and only then", async () => {
    const { projectId, updatedAt } = await world.projects.createProject({ title: "old", bootstrap: false }, "a");
    expect(await world.projects.patchProject(projectId, { title: "old" })).toMatchObject({ updatedAt });
    const renamed = await world.projects.patchProject(projectId, { title: "new" });
    expect(renamed).toMatchObject({ title: "new", status: "active" });
    expect(Date.parse(renamed.updatedAt)).toBeGreaterThan(Date.parse(updatedAt));
    expect(await world.projects.patchProject(projectId, { status: "inactive" })).toMatchObject({
      title: "new",
      status: "inactive",
    });
  });

  test("[UTP-W30-E2] a status outside the three words is a refusal, not an error of the database", async () => {
    const { projectId } = await world.projects.createProject({ title: "x", bootstrap: false }, "a");
    await expect(world.projects.patchProject(projectId, { status: "gone" })).rejects.toMatchObject({
      code: "bad_request",
    });
  });

  test.each(["proj_none", "", "a.b", "a\u0000b"])("%j is not found", async (projectId) => {
    expect(await world.projects.getProject(projectId)).toBeUndefined();
    await expect(world.projects.patchProject(projectId, {})).rejects.toMatchObject({ code: "not_found" });
    await expect(world.projects.deleteProject(projectId)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("deleting", () => {
  /** Read from the catalog, so that a table added later is not forgotten by a delete. */
  const tablesOfProjects = async (): Promise<readonly string[]> => {
    const rows = await world.ask<{ name: string }>(
      `select format('%I.%I', c.table_schema, c.table_name) as name
         from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
        where c.column_name = 'project_id' and t.table_type = 'BASE TABLE' and c.table_schema in ('resource', 'cards', 'state', 'bus')`,
    );
    return rows.map(({ name }) => name);
  };

  const rowsOf = async (projectId: string): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const table of await tablesOfProjects()) {
      const [row] = await world.ask<{ n: number }>(`select count(*)::int as n from ${table} where project_id = $1`, [
        projectId,
      ]);
      counts[table] = row?.n ?? -1;
    }
    return counts;
  };

  const fill = async (projectId: string): Promise<void> => {
    await world.projects.createProject({ project_id: projectId, title: "x" }, "a");
    const by = { door: "http", tokenId: null, role: "operator", actor: "me" } as const;
    await world.tools.upsertTool(projectId, sampleTool("count_words"), { by });
    await world.profiles.upsertProfile(projectId, { name: "Helper", worker_target: "worker_generic" });
    await world.agents.upsertAgent(projectId, { agent_id: "helper", profile_name: "Helper" });
    await world.boxes.createBox(projectId, ["a", "b"]);
    await world.cards.putCards(projectId, [sampleCard(projectId)]);
    await insertSampleCall(world, { projectId, toolCallId: "tc_done", status: "success" });
    await world.ask("insert into state.call_keys values ($1, 'agent_a', 'count_words', 'key', 'tc_done')", [projectId]);
    await world.ask(
      "insert into state.call_leases (project_id, tool_call_id, lease_id, attempt, ended) values ($1, 'tc_done', 'l', 1, 'lapsed')",
      [projectId],
    );
    await world.ask("insert into state.call_diagnostics values ($1, 'tc_done', 'Error', 'm', 's')", [projectId]);
    await world.ask(
      "insert into state.steps (project_id, agent_id, step_id, agent_turn_id, channel_id, status) values ($1, 'a', 's', 't', 'public', 'done')",
      [projectId],
    );
    await world.ask(
      "insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch, context_headers, payload) values ($1, 'i', 'a', 'public', 'turn', 'c', 't', 1, '{}', '{}')",
      [projectId],
    );
    await world.ask(
      "insert into state.edges (project_id, edge_id, channel_id, primitive, edge_phase, source_agent_id, target_agent_id, correlation_id, recursion_depth) values ($1, 'e', 'public', 'enqueue', 'request', 'a', 'b', 'c', 0)",
      [projectId],
    );
    await world.ask(
      `insert into state.turns (project_id, agent_turn_id, agent_id, kind, status, correlation_id, request_hash, source_agent_id,
         channel_id, recursion_depth, trace_id, traceparent, profile_box_id, context_box_id, output_box_id, context_owned,
         output_owned, payload, runtime_config, metadata, ended_at)
       values ($1, 't', 'a', 'turn', 'success', 'c', 'h', 'sys.api', 'public', 0, 't', 't', 'p', 'c', 'o', true, true, '{}', '{}', '{}', now())`,
      [projectId],
    );
    await world.ask(
      "insert into state.identity_edges (project_id, edge_id, channel_id, action, target_agent_id) values ($1, 'e', 'public', 'create', 'a')",
      [projectId],
    );
    await world.ask(
      "insert into state.batches (project_id, batch_id, status, parent_tool_call_id, parent_agent_id, parent_agent_turn_id, deadline_at) values ($1, 'b', 'success', 'c', 'a', 't', now())",
      [projectId],
    );
    await world.ask(
      "insert into state.batch_tasks (project_id, batch_id, task_index, agent_id, task) values ($1, 'b', 0, 'a', '{}')",
      [projectId],
    );
    await world.ask(
      "insert into state.sessions (project_id, session, agent_id, target, state) values ($1, 's', 'a', 't', '{}')",
      [projectId],
    );
    await world.ask(
      "insert into state.dead_letters (project_id, dead_letter_id, kind, subject, headers, payload, code, reason, attempts) values ($1, 'd', 'call', 's', '{}', '{}', 'c', 'r', 1)",
      [projectId],
    );
    await world.ask(
      "insert into state.tombstones (project_id, agent_turn_id, links, cards, ended_at) values ($1, 'turn_old', 2, 2, now())",
      [projectId],
    );
    await world.ask("insert into state.gates (project_id, gate) values ($1, 't')", [projectId]);
    await world.ask(
      "insert into state.lingering_runs (project_id, tool_call_id, gate, ended_as, held_until) values ($1, 'c', 't', 'canceled', now())",
      [projectId],
    );
    await world.ask(
      "insert into resource.webhooks (project_id, webhook_id, url, events, secret, key_id, created_by) values ($1, 'w', 'u', '{}', 's', 'k', 'sys.api')",
      [projectId],
    );
    await world.ask("insert into state.webhook_readers (project_id, position) values ($1, '0')", [projectId]);
    await world.ask(
      "insert into state.webhook_deliveries (project_id, delivery_id, webhook_id, order_key, event, body) values ($1, 'd', 'w', 'c', 'e', '{}')",
      [projectId],
    );
    await world.ask("insert into bus.attached_targets (project_id, target) values ($1, 't')", [projectId]);
    await world.ask(
      "insert into bus.messages (category, project_id, subject, component, target, headers, payload) values ('evt', $1, 's', 'agent', 'a', '{}', '{}')",
      [projectId],
    );
    await world.ask(
      "insert into bus.sent_events (xid, id, project_id, subject, headers, payload, created_at) select xid, id, project_id, subject, headers, payload, created_at from bus.messages where project_id = $1",
      [projectId],
    );
    await world.ask(
      "insert into resource.tokens (token_id, secret_hash, role, project_id) values ($1, 'h', 'viewer', $1)",
      [projectId],
    );
  };

  test("[API-4-E2] everything of the project goes, and nothing of its neighbour", async () => {
    await fill("doomed");
    await fill("neighbour");
    await insertSampleCall(world, { projectId: "neighbour", toolCallId: "tc_open" });
    const before = await rowsOf("neighbour");
    expect(Object.values(before).every((n) => n > 0)).toBe(true);
    await world.projects.deleteProject("doomed");
    expect(Object.values(await rowsOf("doomed")).every((n) => n === 0)).toBe(true);
    expect(await rowsOf("neighbour")).toEqual(before);
    await expect(world.projects.deleteProject("doomed")).rejects.toMatchObject({ code: "not_found" });
  });

  test.each(["queued", "running"] as const)("[API-4-E3] a %s call keeps it, unless forced", async (status) => {
    const projectId = `open_${status}`;
    await fill(projectId);
    await insertSampleCall(world, { projectId, toolCallId: "tc_open", status });
    await expect(world.projects.deleteProject(projectId)).rejects.toMatchObject({ code: "conflict" });
    expect(await world.projects.getProject(projectId)).toMatchObject({ status: "active" });
    await world.projects.deleteProject(projectId, { force: true });
    expect(Object.values(await rowsOf(projectId)).every((n) => n === 0)).toBe(true);
  });

  test("[API-4-E3] an open turn keeps it", async () => {
    await fill("open_turn");
    await world.ask("update state.heads set status = 'running' where project_id = 'open_turn'");
    await expect(world.projects.deleteProject("open_turn")).rejects.toMatchObject({ code: "conflict" });
  });

  test("a delete that was cut short is finished by the next one", async () => {
    await fill("half");
    await world.ask("update resource.projects set status = 'archived' where project_id = 'half'");
    await world.ask("delete from state.past_calls where project_id = 'half'");
    await world.projects.deleteProject("half");
    expect(Object.values(await rowsOf("half")).every((n) => n === 0)).toBe(true);
  });
});
