import { expect, test } from "vitest";
import { silentLog } from "../ports/log.ts";
import { createSeenServices, EVERY_PROJECT } from "./seen-services.ts";

const MINUTE_MS = 60_000;

test("a service is listed for a minute after it asked, under its project or every project", () => {
  let now = 0;
  const seen = createSeenServices(() => now);
  seen.saw("p", "text", "a");
  now = MINUTE_MS / 2;
  seen.saw(EVERY_PROJECT, "text", "b");
  seen.saw("q", "text", "c");
  expect(seen.list("p").map(({ holder }) => holder)).toEqual(["a", "b"]);
  expect(seen.list("p", "math")).toEqual([]);
  now = MINUTE_MS + 1;
  expect(seen.list("p").map(({ holder }) => holder)).toEqual(["b"]);
});

test("[SEE-14] a service that is silent for a minute or goes away is gone for an hour, unless it comes back", () => {
  let now = 0;
  const seen = createSeenServices(() => now);
  const gone = () => seen.gone("p").map(({ holder, lastSeenMs }) => [holder, lastSeenMs]);
  seen.saw("p", "text", "silent")(false);
  seen.saw("p", "text", "left")(true);
  seen.saw("q", "text", "elsewhere")(true);
  expect(gone()).toEqual([["left", 0]]);
  now = MINUTE_MS + 1;
  expect(gone().toSorted()).toEqual([
    ["left", 0],
    ["silent", 0],
  ]);
  seen.saw("p", "text", "silent");
  expect(gone()).toEqual([["left", 0]]);
  now = 60 * MINUTE_MS + 1;
  expect(seen.gone("p").map(({ holder }) => holder)).toEqual(["silent"]);
});

test("[SEE-9] the log says when a service came, when it went, and when it was silent for a minute", () => {
  let now = 0;
  const lines: string[] = [];
  const log = {
    ...silentLog,
    info: (text: string, fields?: object) => lines.push(`${text} ${JSON.stringify(fields)}`),
  };
  const seen = createSeenServices(() => now, log);
  seen.saw("p", "text", "a")(false);
  seen.saw("p", "text", "a")(true);
  seen.saw(EVERY_PROJECT, "text", "b")(false);
  now = MINUTE_MS + 1;
  seen.saw("p", "text", "c")(false);
  expect(lines).toEqual([
    'a service asks for work {"projectId":"p","target":"text","service":"a"}',
    'a service went away {"projectId":"p","target":"text","service":"a"}',
    'a service asks for work {"target":"text","service":"b"}',
    'a service asks for work {"projectId":"p","target":"text","service":"c"}',
    'a service has not asked for work for a minute {"target":"text","service":"b"}',
  ]);
});

test("[ENG-seen-bounded] however many names services use, only the latest ten thousand are remembered", () => {
  const seen = createSeenServices(() => 0);
  for (let n = 0; n < 30_000; n++) seen.saw("p", "text", `holder-${n}`);
  const listed = seen.list("p");
  expect(listed).toHaveLength(10_000);
  expect(listed.at(-1)?.holder).toBe("holder-29999");
});

test("[ENG-seen-bounded] long names and lists are bounded by their bytes: a project pushes out its own services, not those of others", () => {
  const seen = createSeenServices(() => 0);
  seen.saw("q", "text", "modest", { definitions: ["d".repeat(64)] });
  const definitions = Array.from({ length: 256 }, () => "y".repeat(128));
  for (let n = 0; n < 3_000; n++) seen.saw("p", "text", `holder-${n}`.padEnd(128, "z"), { definitions })(n % 2 === 0);
  const bytesOf = (services: ReturnType<typeof seen.list>) => JSON.stringify(services).length;
  expect(bytesOf(seen.list("p"))).toBeLessThan(10 * 1024 * 1024);
  expect(bytesOf(seen.gone("p"))).toBeLessThan(1024 * 1024);
  expect(seen.list("p").at(-1)?.holder).toContain("holder-2999");
  expect(seen.list("q").map(({ holder }) => holder)).toEqual(["modest"]);
  // Many projects together.
  for (let n = 0; n < 3_000; n++) seen.saw(`p${n}`, "text", "holder", { definitions });
  const all = Array.from({ length: 3_000 }, (_, n) => seen.list(`p${n}`)).flat();
  expect(bytesOf(all)).toBeLessThan(40 * 1024 * 1024);
  expect(all.at(-1)?.projectId).toBe("p2999");
});

test("a service that goes away while it asks is not listed any more, unless it asks elsewhere too", () => {
  const seen = createSeenServices(() => 0);
  const names = () => seen.list("p").map(({ holder }) => holder);
  const [one, two] = [seen.saw("p", "text", "a"), seen.saw("p", "text", "a")];
  one(true);
  expect(names()).toEqual(["a"]);
  two(true);
  expect(names()).toEqual([]);
  // An answer is not a goodbye.
  seen.saw("p", "text", "a")(false);
  expect(names()).toEqual(["a"]);
});
