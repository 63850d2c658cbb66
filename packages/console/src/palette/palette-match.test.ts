import { describe, expect, test } from "vitest";
import { listChoices, matchChoices, scoreOf } from "./palette-match.ts";

const choices = listChoices({
  project: "demo",
  tools: ["word_count", "echo"],
  agents: ["helper"],
  projects: ["demo", "other"],
  isAdmin: true,
});
const labels = (typed: string): readonly string[] =>
  matchChoices(choices, "demo", typed).map(({ label, note }) => `${note} ${label}`);

describe("the palette", () => {
  test("finds by letters in order, the closest first", () => {
    expect(labels("wc")).toEqual(["tool word_count"]);
    expect(labels("tok")[0]).toBe("page Tokens");
    expect(labels("ech")).toEqual(["tool echo"]);
    expect(labels("zzz")).toEqual([]);
  });

  test("pages are offered before anything is typed", () => {
    expect(labels("")[0]).toBe("page Now");
  });

  test.each([
    ["turn_0f3c", "turn turn_0f3c"],
    ["0123456789abcdef0123456789abcdef", "trace 0123456789abcdef0123456789abcdef"],
    ["019a2c00-0000-7000-8000-000000000000", "call 019a2c00-0000-7000-8000-000000000000"],
  ])("an id that was pasted is a place: %s", (id, choice) => {
    expect(labels(id)[0]).toBe(choice);
  });

  test("without a project there are no pages of one", () => {
    const none = listChoices({ project: undefined, tools: [], agents: [], projects: ["demo"], isAdmin: false });
    expect(none.map(({ label }) => label)).toEqual(["Projects", "demo"]);
  });

  test("a text within is better than scattered letters", () => {
    expect(scoreOf("Dead letters", "let")).toBeLessThan(scoreOf("Dead letters", "dlt") ?? 0);
    expect(scoreOf("abc", "acb")).toBeUndefined();
  });
});
