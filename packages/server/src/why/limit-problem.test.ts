import type { HeldBack, QueuePlace } from "@toolplane/engine";
import { expect, test } from "vitest";
import { limitFacts, planLimitWhy, showHold } from "./limit-problem.ts";
import { placeText } from "./queue-words.ts";

const NOW = Date.parse("2026-01-02T03:04:05Z");
const at = (seconds: number): Date => new Date(NOW + seconds * 1_000);
const slot = (toolCallId: string, endedAs: string | null = null) => ({
  toolCallId,
  holder: "text-1",
  startedAt: at(-2),
  leaseUntil: at(13),
  runDeadline: at(28),
  endedAs,
});
const place = (ahead: number, line: QueuePlace["line"] = "one", isAtLeast = false): QueuePlace => ({
  running: 1,
  ahead,
  isAtLeast,
  line,
});
const held = (more: Partial<HeldBack>): HeldBack => ({
  toolName: "search",
  target: undefined,
  blockedBy: "concurrency",
  limits: { concurrency: 1 },
  running: 1,
  nextAt: undefined,
  openedAt: undefined,
  slots: [slot("c1")],
  ...more,
});
/** As a person sees it. */
const shown = (one: HeldBack) => showHold(one, new Set(one.slots.map(({ toolCallId }) => toolCallId)));
const breaker = { failure_rate: 0.5, window_seconds: 60, open_seconds: 30 };

test.each<[string, Partial<HeldBack>, QueuePlace | undefined, string, string]>([
  [
    "a slot",
    {},
    place(0),
    "it waits for a slot: search runs at most 1 call at a time, and 1 runs now (call c1 at text-1 for 2 s, leased for 13 s more); a slot is free when one of them ends or its lease lapses, at the latest at 2026-01-02T03:04:33.000Z (in 28 s); this call is the next one",
    "end a call that holds a slot: toolplane calls cancel c1; or let more run at once: toolplane tools limits search --concurrency N",
  ],
  [
    "a slot of the project",
    { toolName: undefined, limits: { concurrency: 3 }, running: 3 },
    place(4, "gates"),
    "it waits for a slot: project demo runs at most 3 calls at a time, and 3 run now (call c1 at text-1 for 2 s, leased for 13 s more and 2 more); a slot is free when one of them ends or its lease lapses, at the latest at 2026-01-02T03:04:33.000Z (in 28 s); about 4 calls start before it, because the tools of the project take turns",
    "end a call that holds a slot: toolplane calls cancel c1; or let more run at once: toolplane projects limits demo --concurrency N",
  ],
  [
    "slots of calls that have ended",
    { limits: { concurrency: 2 }, running: 2, slots: [slot("c1", "canceled"), slot("c2", "timeout")] },
    undefined,
    "it waits for a slot: search runs at most 2 calls at a time, and 2 run now (call c1, canceled, still in the hands of text-1, until 2026-01-02T03:04:33.000Z at the latest, call c2, out of time, still in the hands of text-1, until 2026-01-02T03:04:33.000Z at the latest); a slot is free when one of them ends or its lease lapses, at the latest at 2026-01-02T03:04:33.000Z (in 28 s)",
    "let more run at once: toolplane tools limits search --concurrency N",
  ],
  [
    "a limit that was lowered",
    { limits: { concurrency: 2 }, running: 5, slots: [slot("c1"), slot("c2")] },
    undefined,
    "it waits for a slot: search runs at most 2 calls at a time, and 5 run now (call c1 at text-1 for 2 s, leased for 13 s more, call c2 at text-1 for 2 s, leased for 13 s more and 3 more); a slot is free when 4 of them have ended",
    "end a call that holds a slot: toolplane calls cancel ID; or let more run at once: toolplane tools limits search --concurrency N",
  ],
  [
    "a rate",
    { blockedBy: "rate", limits: { rate: { limit: 2, per_seconds: 10 } }, nextAt: at(1) },
    place(3, "agents"),
    "it waits for the rate of search, at most 2 calls in 10 s; the next call may start at 2026-01-02T03:04:06.000Z (in 1 s); about 3 calls start before it, because the agents take turns, so it starts at about 2026-01-02T03:04:21.000Z (in 16 s)",
    "to let it start more often: toolplane tools limits search --rate N/s",
  ],
  [
    "a rate, and it is next",
    { blockedBy: "rate", limits: { rate: { limit: 1, per_seconds: 10 } }, nextAt: at(1) },
    place(0),
    "it waits for the rate of search, at most 1 call in 10 s; the next call may start at 2026-01-02T03:04:06.000Z (in 1 s); this call is the next one",
    "to let it start more often: toolplane tools limits search --rate N/s",
  ],
  [
    "an open breaker",
    { blockedBy: "breaker", limits: { breaker }, openedAt: at(-6), nextAt: at(24), slots: [] },
    place(1),
    "the breaker of search has been open since 2026-01-02T03:03:59.000Z, because too many of its runs failed; a call runs as a trial at 2026-01-02T03:04:29.000Z (in 24 s), and its success closes the breaker; 1 call is ahead of it",
    "see why the runs fail: toolplane calls list --tool search --status failed; to close the breaker by hand, take it away and set it again: toolplane tools limits search --breaker none, then --breaker 0.5/60s/30s; the calls that wait run then; to end them before, run: toolplane calls cancel --all --tool search",
  ],
  [
    "the trial of a target",
    { blockedBy: "breaker", toolName: undefined, target: "text", limits: { breaker }, openedAt: at(-6) },
    place(10_000, "agents", true),
    "the breaker of target text has been open since 2026-01-02T03:03:59.000Z, because too many of its runs failed; call c1 runs as a trial now: its success closes the breaker, its failure keeps it open; at least 10000 calls start before it, because the agents take turns",
    "see why the runs fail: toolplane calls list --target text --status failed; to close the breaker by hand, take it away and set it again: toolplane projects limits demo --breaker none, then --breaker 0.5/60s/30s; the calls that wait run then; to end them before, run: toolplane calls cancel --all --target text",
  ],
])("[LIM-why-1] [LIM-why-2] %s", (_, more, where, why, todo) => {
  expect(planLimitWhy({ ...shown(held(more)), projectId: "demo", nowMs: NOW, place: where })).toEqual([why, todo]);
});

test("[LIM-why-2] [LIM-why-3] a trial whose call has ended is no trial that could close the breaker", () => {
  const one = held({ blockedBy: "breaker", limits: { breaker }, openedAt: at(-6), slots: [slot("c1", "canceled")] });
  const why = (seen: readonly string[]) =>
    planLimitWhy({ ...showHold(one, new Set(seen)), projectId: "demo", nowMs: NOW, place: undefined })[0];
  const open =
    "the breaker of search has been open since 2026-01-02T03:03:59.000Z, because too many of its runs failed";
  const then = "; the next call runs as a trial when that run is over";
  expect(why(["c1"])).toBe(
    `${open}; the call of its trial has ended, but a service still runs it (call c1, canceled, still in the hands of text-1, until 2026-01-02T03:04:33.000Z at the latest)${then}`,
  );
  expect(why([])).toBe(`${open}; the call of its trial has ended, but a service still runs it${then}`);
});

test("[LIM-why-3] calls that the reader may not see are counted and not named, in the words and in the facts", () => {
  const two = held({
    limits: { concurrency: 2 },
    running: 2,
    slots: [slot("c1"), { ...slot("c2"), runDeadline: at(90) }],
  });
  const why = (seen: readonly string[]) =>
    planLimitWhy({ ...showHold(two, new Set(seen)), projectId: "demo", nowMs: NOW, place: place(0) })[0];
  const free =
    "a slot is free when one of them ends or its lease lapses, at the latest at 2026-01-02T03:04:33.000Z (in 28 s)";
  expect(why([])).toBe(
    `it waits for a slot: search runs at most 2 calls at a time, and 2 run now; ${free}; this call is the next one`,
  );
  expect(why(["c2"])).toContain(`and 2 run now (call c2 at text-1 for 2 s, leased for 13 s more and 1 more); ${free}`);
  expect(limitFacts(showHold(two, new Set()))).toMatchObject({
    running: 2,
    slots: [],
    slot_free_by: at(28).toISOString(),
  });
  // Of a limit that was lowered to 1, two runs have to end.
  const lowered = { ...two, limits: { concurrency: 1 } };
  expect(limitFacts(showHold(lowered, new Set()))).toMatchObject({ running: 2, slot_free_by: null });
  const trial = held({ blockedBy: "breaker", limits: { breaker }, openedAt: at(-6) });
  const [said] = planLimitWhy({ ...showHold(trial, new Set()), projectId: "demo", nowMs: NOW, place: undefined });
  expect(said).toContain("; a call runs as a trial now:");
});

test.each<[QueuePlace, string]>([
  [place(0), "1 call runs now, and this call is the next one"],
  [place(1), "1 call runs now, and 1 call is ahead of it"],
  [place(2, "session"), "1 call runs now, and 2 calls of its session are ahead of it"],
  [
    { ...place(1, "agents"), running: 0 },
    "0 calls run now, and about 1 call starts before it, because the agents take turns",
  ],
])("[LIM-why-2] where it stands: %o", (where, said) => {
  expect(placeText(where)).toBe(said);
});
