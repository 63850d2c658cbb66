import { expect, test } from "vitest";
import { type Place, parsePlace, pathTo } from "./place.ts";

const PLACES: readonly (readonly [string, Place])[] = [
  ["/", { kind: "home" }],
  ["/projects-list", { kind: "projects" }],
  ["/access", { kind: "tokens" }],
  ["/p/demo", { kind: "page", project: "demo", page: "now" }],
  ["/p/demo/dead-letters", { kind: "page", project: "demo", page: "dead-letters" }],
  ["/p/demo/calls/019a", { kind: "call", project: "demo", id: "019a" }],
  ["/p/demo/turns/turn_1", { kind: "turn", project: "demo", id: "turn_1" }],
  ["/p/demo/traces/abc", { kind: "trace", project: "demo", id: "abc" }],
  ["/p/demo/tools/word_count", { kind: "tool", project: "demo", id: "word_count" }],
  ["/p/demo/agents/a%2Fb%3F", { kind: "agent", project: "demo", id: "a/b?" }],
];

test.each(PLACES)("%s is a place, and the place has this address", (path, place) => {
  expect(parsePlace(path)).toEqual(place);
  expect(pathTo(place)).toBe(path);
});

test.each(["/p/demo/nothing", "/p", "/p/demo/calls/1/2", "/elsewhere", "/p/demo/hosts/1"])(
  "%s is not a place",
  (path) => {
    expect(parsePlace(path)).toEqual({ kind: "lost", path });
  },
);

test("a trailing slash is ignored, and a broken escape is text", () => {
  expect(parsePlace("/p/demo/")).toEqual({ kind: "page", project: "demo", page: "now" });
  expect(parsePlace("/p/demo/tools/%zz")).toEqual({ kind: "tool", project: "demo", id: "%zz" });
});
