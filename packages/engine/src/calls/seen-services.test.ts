import { expect, test } from "vitest";
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

test("[ENG-seen-bounded] however many names services use, only the latest ten thousand are remembered", () => {
  const seen = createSeenServices(() => 0);
  for (let n = 0; n < 30_000; n++) seen.saw("p", "text", `holder-${n}`);
  const listed = seen.list("p");
  expect(listed).toHaveLength(10_000);
  expect(listed.at(-1)?.holder).toBe("holder-29999");
});

test("a service that goes away while it asks is not listed any more, unless it asks elsewhere too", () => {
  const seen = createSeenServices(() => 0);
  const names = () => seen.list("p").map(({ holder }) => holder);
  const [one, two] = [seen.saw("p", "text", "a"), seen.saw("p", "text", "a")];
  one(true);
  expect(names()).toEqual(["a"]);
  two(true);
  expect(names()).toEqual([]);
  // An answer is no goodbye.
  seen.saw("p", "text", "a")(false);
  expect(names()).toEqual(["a"]);
});
