// Lists of large things: a page is bounded in bytes as it is in rows, and answers that their reader has not taken are counted.

import { toolUpload, weighAnswers } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

const KB = 1024;
/** A page, and one thing more. */
const PAGE = 5 * 1024 * KB;
const LARGE = "x".repeat(500 * KB);

interface Pages {
  readonly ids: readonly string[];
  readonly sizes: readonly number[];
}

/** Reads a list to its end; every page is smaller than it may be. */
const readAll = async (
  http: HttpStack,
  path: string,
  idOf: (item: Record<string, unknown>) => string,
): Promise<Pages> => {
  const ids: string[] = [];
  const sizes: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = `limit=500${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const response = await http.raw(`${path}?${query}`, { headers: { authorization: `Bearer ${http.admin}` } });
    const text = await response.text();
    expect(response.status).toBe(200);
    const page = JSON.parse(text) as { items: Record<string, unknown>[]; next_cursor: string | null };
    ids.push(...page.items.map(idOf));
    sizes.push(text.length);
    cursor = page.next_cursor;
  }
  return { ids, sizes };
};

const expectPages = ({ ids, sizes }: Pages, wanted: readonly string[]): void => {
  expect([...ids].sort()).toEqual([...wanted].sort());
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThan(PAGE);
};

const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(2, "0")}`);

test("[SEC-memory-lists] agents with large metadata come in pages of bytes", async () => {
  await using http = await startHttpStack();
  const { engine } = http.t;
  await engine.profiles.upsertProfile("demo", { name: "p", worker_target: "w", tags: [], system_prompt: "" });
  const wanted = names("agent", 24);
  for (const agent_id of wanted) {
    const body = { agent_id, profile_name: "p", metadata: { note: LARGE } };
    expect((await http.send("POST", "/projects/demo/agents", body)).status).toBeLessThan(300);
  }
  expectPages(await readAll(http, "/projects/demo/agents", (item) => String(item.agent_id)), wanted);
});

test("[SEC-memory-lists] an answer that nobody takes, because only its head was asked for, is not counted", async () => {
  const answers = { perToken: 3 * 1024 * KB, inAll: 30 * 1024 * KB };
  await using http = await startHttpStack({}, { answers });
  await http.t.engine.profiles.upsertProfile("demo", { name: "p", worker_target: "w", tags: [], system_prompt: "" });
  for (const agent_id of names("agent", 4))
    await http.send("POST", "/projects/demo/agents", { agent_id, profile_name: "p", metadata: { note: LARGE } });
  const headers = { authorization: `Bearer ${http.admin}` };
  for (let round = 0; round < 4; round++) {
    const { status } = await http.raw("/projects/demo/agents", { method: "HEAD", headers });
    expect(status).toBe(200);
  }
  expect((await http.raw("/projects/demo/agents", { headers })).status).toBe(200);
});

test("[SEC-memory-lists] calls that await approval come in pages of bytes", async () => {
  await using http = await startHttpStack({ tools: [{ name: "asked", options: { approval: "required" } }] });
  const wanted: string[] = [];
  for (let made = 0; made < 24; made++) {
    const { body } = await http.send("POST", "/projects/demo/calls", {
      tool_name: "asked",
      arguments: { text: LARGE },
    });
    wanted.push(body.tool_call_id);
  }
  expectPages(await readAll(http, "/projects/demo/approvals", (item) => String(item.tool_call_id)), wanted);
});

test("[SEC-memory-lists] tools and the versions of a tool come in pages of bytes", async () => {
  await using http = await startHttpStack();
  const description = "x".repeat(200 * KB);
  const wanted = names("tool", 48);
  for (const name of wanted) {
    const upload = { ...toolUpload({ name }), parameters: { type: "object", description } };
    await http.send("POST", "/projects/demo/tools", upload);
  }
  const tools = await readAll(http, "/projects/demo/tools", (item) => String(item.tool_name));
  expectPages({ ...tools, ids: tools.ids.filter((name) => name.startsWith("tool")) }, wanted);
  for (let version = 1; version < 48; version++) {
    const upload = {
      ...toolUpload({ name: "tool00" }),
      parameters: { type: "object", description: `${version} ${description}` },
    };
    await http.send("POST", "/projects/demo/tools", upload);
  }
  const versions = await readAll(http, "/projects/demo/tools/tool00/versions", (item) => String(item.version));
  expectPages(
    versions,
    Array.from({ length: 48 }, (_, index) => String(index + 1)),
  );
});

const makeCards = async (http: HttpStack, count: number): Promise<readonly string[]> => {
  const { engine } = http.t;
  const ids: string[] = [];
  for (let made = 0; made < count; made++) {
    const asked = { projectId: "demo", toolName: "safe", arguments: { text: LARGE } };
    const { toolCallId } = await engine.calls.dispatch(asked);
    ids.push((await engine.calls.facts({ projectId: "demo", toolCallId })).callCardId);
  }
  return ids;
};

test("[SEC-memory-lists] cards asked for together, and those of boxes, are bounded in bytes", async () => {
  await using http = await startHttpStack();
  const ids = await makeCards(http, 40);
  const first = await http.send("POST", "/projects/demo/cards/batch", { card_ids: ids });
  const { cards, missing_ids, omitted_ids } = first.body as unknown as Record<string, readonly { card_id: string }[]>;
  expect(JSON.stringify(first.body).length).toBeLessThan(17 * 1024 * KB);
  expect(missing_ids).toEqual([]);
  expect([...(cards ?? []).map(({ card_id }) => card_id), ...((omitted_ids ?? []) as unknown as string[])]).toEqual(
    ids,
  );

  const boxId = await http.t.engine.boxes.createBox("demo", ids);
  const headers = { authorization: `Bearer ${http.admin}` };
  const newest = await http.raw(`/projects/demo/boxes/${boxId}/cards?limit=500`, { headers });
  expect(newest.headers.get("toolplane-truncated")).toBe("true");
  const shown = (await newest.json()) as readonly { card_id: string }[];
  expect(shown.map(({ card_id }) => card_id)).toEqual(ids.slice(-shown.length));
  expect(shown.length).toBeLessThan(34);

  const others = await Promise.all([0, 1, 2].map(() => http.t.engine.boxes.createBox("demo", ids)));
  const asked = { box_ids: [boxId, ...others], hydrate: true, limit: 500 };
  const batch = await http.send("POST", "/projects/demo/boxes/batch", asked);
  const boxes = (batch.body as unknown as { boxes: readonly { truncated: boolean; hydrated_cards: unknown[] }[] })
    .boxes;
  expect(JSON.stringify(batch.body).length).toBeLessThan(17 * 1024 * KB);
  expect(boxes.map(({ truncated }) => truncated)).toEqual([true, true, true, true]);
});

test("[SEC-memory-lists] answers that are not taken are counted for each token, and make room when they are read", async () => {
  const answers = { perToken: 10 * 1024 * KB, inAll: 40 * 1024 * KB };
  await using http = await startHttpStack({}, { answers }, false);
  const another = (await http.t.engine.tokens.create({ role: "viewer", projectId: "demo" })).secret;
  const ids = await makeCards(http, 8);
  const ask = (token: string) =>
    http.raw("/projects/demo/cards/batch", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ card_ids: ids }),
    });
  const [first, second] = [await ask(http.admin), await ask(http.admin)];
  const refused = await ask(http.admin);
  expect([first.status, second.status, refused.status, refused.headers.get("retry-after")]).toEqual([
    200,
    200,
    429,
    "1",
  ]);
  expect(await refused.json()).toMatchObject({ error: { code: "rate_limited" } });
  expect(((await (await ask(another)).json()) as { cards: unknown[] }).cards).toHaveLength(8);
  expect(((await first.json()) as { cards: unknown[] }).cards).toHaveLength(8);
  await second.body?.cancel();
  for (let asked = 0; asked < 2; asked++) expect((await ask(http.admin)).status).toBe(200);
});

test("[SEC-memory-lists] the ids of a long box are counted too, while they are not taken", async () => {
  await using http = await startHttpStack({}, { answers: { perToken: 100 * KB, inAll: 40 * 1024 * KB } });
  const ids = Array.from({ length: 9_900 }, (_, index) => `card_${String(index).padStart(28, "0")}`);
  const boxId = await http.t.engine.boxes.createBox("demo", ids);
  expect((await http.send("GET", `/projects/demo/boxes/${boxId}`)).status).toBe(429);
});

test("[SEC-memory-lists] a turn with long cards is shown without reading them at once; what is shown of each is short", async () => {
  await using http = await startHttpStack();
  const { engine } = http.t;
  await engine.profiles.upsertProfile("demo", { name: "p", worker_target: "w", tags: [], system_prompt: "" });
  await engine.agents.upsertAgent("demo", { agent_id: "ann", profile_name: "p" });
  const boxId = await engine.boxes.createBox("demo", await makeCards(http, 40));
  const context = { boxId };
  const turn = await engine.turns.spawn({ projectId: "demo", agentId: "ann", sourceAgentId: "sys.test", context });
  const answers = weighAnswers(engine);
  const shown = await http.send("GET", `/projects/demo/turns/${turn.agentTurnId}?detail=full`);
  expect(shown.status).toBe(200);
  const sizes = answers.map(({ bytes }) => bytes);
  expect(Math.max(...sizes)).toBeLessThan(PAGE);
  // They were read, in pages.
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(40 * LARGE.length);
});
