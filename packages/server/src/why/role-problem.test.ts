import { expect, test } from "vitest";
import type { UpRole } from "../config/settings.ts";
import { planMissingRole, planRoleProblem, roleServing } from "./role-problem.ts";

const running = (...roles: (readonly UpRole[])[]) =>
  roles.map((roles, n) => ({ pid: n + 1, host: "box", roles, bus: "postgres" as const }));

test.each([
  [
    "bundled",
    running(["api"], ["worker", "pmo"]),
    "no process has the role tools, which serves the bundled tools and the hosts",
  ],
  ["host_text", running(["api"]), "no process has the role tools, which serves the bundled tools and the hosts"],
  [
    "pmo",
    running(["api", "tools"]),
    "no process has the role pmo, which serves the tools with which agents manage agents",
  ],
])("[UP-9-7] %s without its role is named", (target, processes, why) => {
  expect(planRoleProblem(target, processes)?.why).toBe(why);
});

test("[UP-9-7] what to do names the role", () => {
  expect(planMissingRole("worker", running(["api"]))?.todo).toContain("toolplane up --roles worker");
});

test.each([
  ["bundled", running(["api"], ["tools"])],
  ["pmo", running(["api", "pmo"])],
  ["text", running(["api"])],
  ["bundled", undefined],
])("[UP-9-7] %s is not missed when it is there, is not ours, or nobody knows", (target, processes) => {
  expect(planRoleProblem(target, processes)).toBeUndefined();
});

test("[UP-9-7] every process of the role serves its targets", () => {
  expect(roleServing("bundled", running(["tools"], ["api"], ["tools", "pmo"])).map(({ pid }) => pid)).toEqual([1, 3]);
  expect(roleServing("text", running(["tools"]))).toEqual([]);
});
