// B1-B3 and the end of a bus that is a log of events: what is published is there for readers, whole and once.

import { expect, test } from "vitest";
import { type LogHarness, openBuses } from "./bus-harness.ts";
import { CARRIED, HEADERS, REFUSED } from "./publishing.contract.ts";

const subjectOf = (projectId: string, category = "evt.agent"): string =>
  `cg.v1r4.${projectId}.public.${category}.desk.work`;

const eventOf = (projectId: string, payload: string) => ({ subject: subjectOf(projectId), headers: HEADERS, payload });

export const logContract = (harness: () => LogHarness): void => {
  test.each(CARRIED)("[BUS-1] [ARCH-6-21] %s is logged byte for byte", async (_, payload) => {
    await using buses = await openBuses(harness());
    const { projectId } = buses;
    const event = eventOf(projectId, payload);
    await buses.one.publish([event]);
    const logged = await harness().logged(projectId);
    expect(logged).toMatchObject([event]);
    expect(Object.entries(logged[0]?.headers ?? {})).toEqual(Object.entries(HEADERS));
  });

  test("[BUS-3] one message id is one message of its project: in a call, at once, and later", async () => {
    await using buses = await openBuses(harness());
    await using neighbours = await openBuses(harness());
    const { one, other, projectId } = buses;
    const twice = { ...eventOf(projectId, "once"), messageId: "same" };
    await neighbours.one.publish([{ ...eventOf(neighbours.projectId, "theirs"), messageId: "same" }]);
    await one.publish([twice, twice]);
    await Promise.all([one.publish([twice]), other.publish([twice])]);
    await one.publish([eventOf(projectId, "last")]);
    expect((await harness().logged(projectId)).map(({ payload }) => payload)).toEqual(["once", "last"]);
    expect(one.stats().published + other.stats().published).toBe(2);
  });

  test.each([
    ...REFUSED,
    ["a command, which nobody would take", { subject: subjectOf("p", "cmd.tool") }, "bad_request"] as const,
  ])("[BUS-2] %s is refused and nothing of the call is stored", async (_, fault, code) => {
    await using buses = await openBuses(harness());
    const good = eventOf(buses.projectId, "good");
    await expect(buses.one.publish([good, { ...good, ...fault }])).rejects.toMatchObject({ code });
    expect(await harness().logged(buses.projectId)).toEqual([]);
  });

  test("[BUS-2] a closed bus refuses work with a code, and closing again is nothing", async () => {
    await using buses = await openBuses(harness());
    const { one, projectId } = buses;
    await one.close();
    await one.close();
    await expect(one.publish([eventOf(projectId, "late")])).rejects.toMatchObject({ code: "storage_error" });
    await expect(one.subscribeStream("cg.v1r4.*.*.str.>", () => {})).rejects.toMatchObject({ code: "storage_error" });
  });
};
