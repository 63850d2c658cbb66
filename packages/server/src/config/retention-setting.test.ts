import { expect, test } from "vitest";
import { parseConfigFile } from "./config-file.ts";
import { planRetention } from "./retention-setting.ts";

const plan = (yaml: string) =>
  planRetention({
    flags: {},
    env: {},
    cwd: "/srv",
    file: { ...parseConfigFile(yaml, "toolplane.yaml"), directory: "/srv" },
  });

const DAY = 86_400;
const FOREVER = Number.POSITIVE_INFINITY;

test.each<[string, ReturnType<typeof planRetention>]>([
  ["project: a\n", undefined],
  ["retention:\n", undefined],
  ["retention: { days: 30 }\n", { seconds: 30 * DAY, projects: new Map() }],
  ["retention: { days: 0.5 }\n", { seconds: DAY / 2, projects: new Map() }],
  ["retention: { days: forever, projects: { a: 1 } }\n", { seconds: FOREVER, projects: new Map([["a", DAY]]) }],
  ["retention: { projects: { constructor: 1 } }\n", { seconds: FOREVER, projects: new Map([["constructor", DAY]]) }],
  ["retention: { days: 1, projects: { audit: forever } }\n", { seconds: DAY, projects: new Map([["audit", FOREVER]]) }],
])("[UP-3-9] %j", (yaml, policy) => {
  expect(plan(yaml)).toEqual(policy);
});

const BOUND = "is a number of days from 0.01 to 36500, or forever, not";

test.each<[string, string]>([
  ["retention: { days: 0 }\n", `toolplane.yaml:1: retention.days ${BOUND} 0`],
  ["retention:\n  days: -3\n", `toolplane.yaml:2: retention.days ${BOUND} -3`],
  ["retention: { days: 30d }\n", `toolplane.yaml:1: retention.days ${BOUND} "30d"`],
  ["retention: { days: .nan }\n", `toolplane.yaml:1: retention.days ${BOUND} NaN`],
  ["retention: { days: .inf }\n", `toolplane.yaml:1: retention.days ${BOUND} Infinity`],
  ["retention: { days: [1] }\n", `toolplane.yaml:1: retention.days ${BOUND} [1]`],
  ["retention:\n  projects:\n    a: 1e9\n", `toolplane.yaml:3: retention.projects.a ${BOUND} 1000000000`],
  ["retention: { projects: { a: { days: 3 } } }\n", `toolplane.yaml:1: retention.projects.a ${BOUND} {"days":3}`],
  [
    "retention: { projects: { 'a b': 3 } }\n",
    'toolplane.yaml:1: retention.projects: "a b" is not the name of a project',
  ],
  ["retention: {}\n", "toolplane.yaml:1: retention says nothing: set retention.days or retention.projects"],
  ["retention: { day: 3 }\n", 'toolplane.yaml:1: unknown key "day" in retention'],
  ["retention: 30\n", "toolplane.yaml:1: retention: "],
])("[UP-3-9] %j is refused in one sentence", (yaml, message) => {
  expect(() => plan(yaml)).toThrow(message);
});
