// What people read about a call that a batch holds.

import type { BatchView, CallView } from "@toolplane/engine";
import { describe, expect, test } from "vitest";
import { planExplanation, type WhyFacts } from "./explain-call.ts";

const NOW = Date.parse("2026-01-02T03:04:05Z");

const view = {
  toolCallId: "c1",
  toolName: "fork_join",
  status: "running",
  target: "pmo",
  leaseHolder: "batch:batch_c1",
  leaseExpiresAt: new Date(NOW + 660_000),
  runDeadline: new Date(NOW + 660_000),
  queueDeadline: new Date(NOW + 660_000),
  createdAt: new Date(NOW),
} as CallView;

const task = (taskIndex: number, status: string, agentTurnId: string | null, error: string | null = null) =>
  ({ taskIndex, status, agentId: `a${taskIndex}`, agentTurnId, error }) as BatchView["tasks"][number];

const explain = (...tasks: BatchView["tasks"]) =>
  planExplanation({
    view,
    nowMs: NOW,
    toolStatus: "active",
    consumers: 1,
    deadLetterId: undefined,
    batch: { batchId: "batch_c1", deadlineAt: new Date(NOW + 600_000), tasks } as unknown as BatchView,
  });

test("[API-why] a call that waits for a batch names the tasks that are open, and the turn to look at", () => {
  const { why, todo, facts } = explain(
    task(0, "success", "turn_0"),
    task(1, "dispatched", "turn_1"),
    task(2, "pending", null, "dispatch_busy:agent_busy"),
  );
  expect(why).toBe(
    "it waits for 2 of the 3 tasks of batch_c1: task 1 in turn turn_1, task 2 for agent a2, not given to it yet (dispatch_busy:agent_busy); what has not ended by 2026-01-02T03:14:05.000Z (in 600 s) is stopped",
  );
  expect(todo).toBe("toolplane turns show turn_1");
  expect(facts.batch).toMatchObject({ batch_id: "batch_c1", tasks: [{ status: "success" }, {}, {}] });
});

test("[API-why] many tasks are counted, not listed; a batch that is through says so", () => {
  const many = Array.from({ length: 9 }, (_, index) => task(index, "dispatched", `turn_${index}`));
  expect(explain(...many).why).toContain("task 2 in turn turn_2 and 6 more;");
  expect(explain(task(0, "failed", "turn_0"))).toMatchObject({
    why: "all 1 tasks of batch_c1 have ended; it settles in a moment",
    todo: null,
  });
});

const queued = {
  ...view,
  toolName: "scrub",
  status: "queued",
  target: "text",
  leaseHolder: null,
  availableAt: null,
} as CallView;
const explainQueued = (facts: Partial<WhyFacts>) =>
  planExplanation({
    view: queued,
    nowMs: NOW,
    toolStatus: "active",
    consumers: 0,
    deadLetterId: undefined,
    ...facts,
  });
const api = (pid: number) => ({ pid, host: "box", roles: ["api"], bus: "nats" }) as const;

describe("[SEE-16] a command to a service without leases: where it waits, and what the plane cannot know", () => {
  const dueAt = new Date(NOW + 4_000);
  test.each<[string, Partial<WhyFacts>, RegExp]>([
    [
      "v1r3",
      {},
      /^its command has left the outbox of the plane for cg\.v1r3\.demo\.\S+ over NATS; the service takes no/,
    ],
    [
      "v1r4",
      {},
      /^its command has left the outbox of the plane for cg\.v1r4\.demo\.\S+ over NATS; the service takes no/,
    ],
    [
      "v1r3",
      { command: { tries: 0, dueAt } },
      /still in the outbox of the plane and leaves for cg\.v1r3\.\S+ in a moment/,
    ],
    [
      "v1r3",
      { command: { tries: 1, dueAt } },
      /still in the outbox .*tried once, and no service listens on .*\(in 4 s\)/,
    ],
    [
      "v1r4",
      { command: { tries: 3, dueAt } },
      /still in the outbox .*tried 3 times, and NATS did not take it; .*\(in 4 s\)/,
    ],
  ])("%s %j", (version, more, why) => {
    const subject = `cg.${version}.demo.public.cmd.tool.text.scrub`;
    const view = { ...queued, plain: true, subject } as CallView;
    // Under a limit it counts as running from when its command was sent.
    for (const status of ["queued", "running"] as const) {
      const call = { ...view, status, leaseExpiresAt: null } as CallView;
      expect(explainQueued({ view: call, ...more })).toMatchObject({
        why: expect.stringMatching(why),
        todo: `see that a service listens on ${subject}, and what its log says`,
      });
      expect(explainQueued({ view: call, busAway: true, ...more })).toMatchObject({
        why: expect.stringContaining("NATS is away"),
        todo: "see that NATS runs and is reached",
      });
      const other = version === "v1r3" ? "with a target_subject of version v1r4 and without" : "without";
      expect(explainQueued({ view: call, noNats: true, ...more })).toMatchObject({
        why: expect.stringMatching(
          /^this plane has no NATS, so no command reaches a plain service; the call gives up at /,
        ),
        todo: `start the plane with --nats-url, or register the tool ${other} \`service: plain\``,
      });
    }
  });
});

test("[SEE-16] of a call that is over, only what still matters is listed", () => {
  const over = {
    ...view,
    status: "success",
    errorCode: null,
    settledAt: new Date(NOW),
    settledBy: "tool.text",
    attempts: 1,
  };
  const { facts } = explainQueued({ view: over as CallView, arguments: { a: 1 } });
  expect(Object.keys(facts)).toEqual(["tool_name", "arguments", "target", "attempts", "created_at", "settled_at"]);
});

test("[LIM-door-1] a call that waits for a slot and has no service says both", () => {
  const limit = {
    toolName: "search",
    target: undefined,
    blockedBy: "concurrency",
    limits: { concurrency: 1 },
  } as const;
  const heldBack = {
    ...{ ...limit, running: 1, nextAt: undefined, openedAt: undefined, slots: [], freeBy: undefined },
    isTrialLingering: false,
  };
  expect(explainQueued({ heldBack, consumers: 0 })).toMatchObject({
    why: expect.stringMatching(/^it waits for a slot: .*; and no service for target text has asked for work lately$/),
    todo: expect.stringMatching(/^start a service for target text; let more run at once: /),
  });
  expect(explainQueued({ heldBack, consumers: 1 }).why).not.toContain("asked for work lately");
});

test("[UP-9-7] nobody serves its target: an API says what it can know", () => {
  expect(explainQueued({ processes: [api(1)] })).toMatchObject({
    why: expect.stringContaining("no service for target text has asked for work lately; the call was made"),
    todo: "start a service for target text",
  });
  expect(explainQueued({ processes: [api(1), api(2)] }).why).toContain("asked for work lately at this process;");
});

test("[UP-9-7] the host of its tool runs in another process: whose log to read", () => {
  const hostProcesses = [{ ...api(7), roles: ["tools"] as const }];
  expect(explainQueued({ hostProcesses, consumers: 1 })).toMatchObject({
    why: expect.stringContaining("it waits for the host of target text, which process 7 on box runs, and gives up at"),
    todo: "if it stays so, see what the log of process 7 on box says of the host",
  });
});

test("[UP-9-7] NATS is away: a service that only knows NATS cannot have heard of it", () => {
  expect(explainQueued({ busAway: true })).toMatchObject({
    why: expect.stringContaining("NATS is away"),
    todo: "see that NATS runs and is reached",
  });
  // Services that were seen may be such ones: they are counted by the calls they leased.
  expect(explainQueued({ busAway: true, consumers: 1 })).toMatchObject({
    why: expect.stringMatching(/1 service .*NATS is away/),
    todo: "see that NATS runs and is reached",
  });
  expect(explainQueued({ consumers: 1 }).why).not.toContain("NATS");
});

test("[UP-9-7] a call that may not run twice says that services which wait on NATS cannot get it", () => {
  const once = { ...queued, retrySafe: false };
  const asked = { view: once, consumers: 2, onlySafe: true };
  expect(explainQueued(asked)).toMatchObject({
    why: expect.stringMatching(
      /may not run twice, and the 2 services of target text .* it needs a service that fetches/,
    ),
    todo: expect.stringContaining("start a service for target text that fetches commands"),
  });
  expect(explainQueued({ ...asked, waitingOnBus: 1 }).why).not.toContain("may not run twice");
  expect(explainQueued({ ...asked, view: { ...once, retrySafe: true } }).why).not.toContain("may not run twice");
  expect(explainQueued({ view: once, waitingOnBus: 1 }).why).toContain("(1 open fetch)");
});

test("[UP-9-7] services that only know NATS are seen before their first lease, and a command that was sent again is said so", () => {
  const again = { ...queued, projectId: "demo", publishes: 5 };
  expect(explainQueued({ view: again, waitingOnBus: 2 })).toMatchObject({
    why: expect.stringMatching(
      /services of target text wait on NATS .*\(2 open fetches\).* was sent 5 times over NATS/,
    ),
    todo: expect.stringContaining("a service of project demo"),
    facts: { open_fetches: 2, commands_sent: 5 },
  });
  expect(explainQueued({ view: again, waitingOnBus: 0 }).why).toMatch(
    /no service for target text .* sent 5 times over NATS/,
  );
  expect(explainQueued({ view: { ...again, publishes: 1 } }).why).not.toContain("sent");
});

test.each([
  [5_000, ""],
  [50_000, "; the last of them asked for work 50 s ago and may be gone"],
])("[API-why] services that were seen %d ms ago are told with their silence, if it is long", (agoMs, more) => {
  const { why } = planExplanation({
    view: {
      ...view,
      toolName: "scrub",
      status: "queued",
      target: "text",
      availableAt: null,
      session: null,
    } as CallView,
    nowMs: NOW,
    toolStatus: "active",
    consumers: 1,
    lastAskedMs: NOW - agoMs,
    deadLetterId: undefined,
  });
  expect(why).toBe(`it waits its turn: 1 service of target text takes calls${more}`);
});

test("[LIM-why-4] services of the plane itself work for all projects: a call that is next and waits says that their places are taken", () => {
  const own = { ...queued, target: "bundled", session: null } as CallView;
  const place = { running: 0, ahead: 0, isAtLeast: false, line: "one" } as const;
  const explainAt = (nowMs: number) => explainQueued({ view: own, nowMs, consumers: 2, ownRole: "tools", place });
  const turn =
    "it waits its turn: 2 services of target bundled take calls of all projects; of this project, 0 calls run now, and this call is the next one";
  expect(explainAt(NOW)).toMatchObject({ why: turn, todo: null });
  expect(explainAt(NOW + 20_000)).toMatchObject({
    why: `${turn}; it has waited 20 s, so other calls probably take all places of the plane's own services; it gives up at 2026-01-02T03:15:05.000Z`,
    todo: expect.stringContaining("toolplane up --roles tools --database-url URL"),
  });
});

test("[SEE-18] a service went away with the call: `why` names the log to look into, while it waits and after it failed", () => {
  const log =
    "look into the log of service text@box:7, which was not heard in time while it had the call; the plane or the network may have been away";
  const lostBefore = ["text@box:7"];
  const offered = { ...queued, attempts: 1, availableAt: new Date(NOW + 2_000) } as CallView;
  expect(explainQueued({ view: offered, lostBefore })).toMatchObject({
    why: expect.stringContaining("its service was not heard in time (attempt 1); it is offered again at"),
    todo: log,
  });
  expect(explainQueued({ view: { ...queued, attempts: 1 } as CallView, lostBefore }).todo).toBe(
    `start a service for target text; ${log}`,
  );
  const lapsed = {
    ...view,
    leaseHolder: "text@box:7",
    leaseExpiresAt: new Date(NOW - 1),
    retrySafe: true,
  } as CallView;
  expect(explainQueued({ view: lapsed }).todo).toBe(log);
  const failed = { ...view, status: "failed", errorCode: "outcome_unknown", settledAt: null, settledBy: "sys" };
  const { todo } = explainQueued({ view: failed as unknown as CallView, errorDetail: { holder: "text@box:7" } });
  expect(todo).toContain(`${log}; look at what the tool did`);
});
