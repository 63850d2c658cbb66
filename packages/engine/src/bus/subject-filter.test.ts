import { createPattern, matchesPattern, parsePattern } from "@toolplane/protocol";
import { createTestDatabase, queryTestDatabase } from "@toolplane/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { planSubjectFilter } from "./subject-filter.ts";

test.each([
  ["cg.v1r4.*.*.cmd.tool.desk.>", "tool", "desk", "^cg[.]v1r4[.][^.]+[.][^.]+[.]cmd[.]tool[.]desk[.].+$"],
  ["cg.v1r4.p.public.evt.agent.*.task", "agent", undefined, "^cg[.]v1r4[.]p[.]public[.]evt[.]agent[.][^.]+[.]task$"],
  ["cg.v1r4.*.*.cmd.sys.>", "sys", undefined, "^cg[.]v1r4[.][^.]+[.][^.]+[.]cmd[.]sys[.].+$"],
  ["cg.>", undefined, undefined, "^cg[.].+$"],
])("%s is found by %s, %s and a regular expression", (pattern, component, target, regex) => {
  expect(planSubjectFilter(parsePattern(pattern))).toEqual({ component, target, regex });
});

// Few tokens, so that patterns and subjects meet.
const token = fc.constantFrom("a", "b", "a-b", "A_1");
const scope = { projectId: token, channelId: token, target: token };
const suffix = fc.array(token, { minLength: 1, maxLength: 3 });

const subject = fc
  .record({ ...scope, category: fc.constantFrom("cmd", "evt"), component: fc.constantFrom("tool", "agent"), suffix })
  .map((s) => `cg.v1r4.${s.projectId}.${s.channelId}.${s.category}.${s.component}.${s.target}.${s.suffix.join(".")}`);

const open = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | "*"> => fc.oneof(value, fc.constant("*" as const));

const pattern = fc
  .record({
    projectId: open(token),
    channelId: open(token),
    category: open(fc.constantFrom("cmd" as const, "evt" as const)),
    component: open(fc.constantFrom("tool" as const, "agent" as const)),
    target: open(token),
    suffix: fc.oneof(
      fc.constant(">"),
      fc.array(open(token), { minLength: 1, maxLength: 3 }).map((tokens) => tokens.join(".")),
      fc.array(open(token), { minLength: 1, maxLength: 2 }).map((tokens) => [...tokens, ">"].join(".")),
    ),
  })
  .map(createPattern);

test("[UTP-1.3-13] the database matches exactly what the protocol matches", async () => {
  const pairs = fc.sample(fc.tuple(pattern, subject), { numRuns: 4000, seed: 7 });
  await using database = await createTestDatabase();
  const [row] = await queryTestDatabase(
    database.url,
    `select array_agg(s collate "C" ~ r order by n) as matches
       from unnest($1::text[], $2::text[]) with ordinality as pairs (s, r, n)`,
    [pairs.map(([, text]) => text), pairs.map(([plan]) => planSubjectFilter(plan).regex)],
  );
  const expected = pairs.map(([plan, text]) => matchesPattern(plan, text));
  expect(new Set(expected)).toEqual(new Set([true, false]));
  expect(row?.matches).toEqual(expected);
});

test("component and target of the filter never exclude a match", () => {
  fc.assert(
    fc.property(pattern, subject, (plan, text) => {
      if (!matchesPattern(plan, text)) return;
      const tokens = text.split(".");
      const { component = tokens[5], target = tokens[6] } = planSubjectFilter(plan);
      expect([component, target]).toEqual([tokens[5], tokens[6]]);
    }),
  );
});
