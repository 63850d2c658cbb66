import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../cli/stack.ts";
import { matchesShown, readBlocks, sectionOf } from "./readme.ts";

const README = readFileSync(join(ROOT, "README.md"), "utf8");

describe("what is shown against what is said", () => {
  const id = (digit: string): string => digit.repeat(32);
  test.each([
    ["the same", ["a"], ["a"], true],
    ["another word", ["a"], ["b"], false],
    ["too little", ["a", "b"], ["a"], false],
    ["too much", ["a"], ["a", "b"], false],
    ["dots for many", ["a", "...", "z"], ["a", "b", "c", "z"], true],
    ["dots for none", ["a", "...", "z"], ["a", "z"], true],
    ["dots do not forgive what follows", ["...", "z"], ["a", "y"], false],
    ["another id", [`call ${id("1")} is over`], [`call ${id("2")} is over`], true],
    ["no id", [`call ${id("1")} is over`], ["call x is over"], false],
    [
      "another time and process",
      ["t 2026-01-02T03:04:05.678Z (process 1 on a) (in 3 s)"],
      ["t 2031-12-02T03:04:05Z (process 22 on b) (in 14 s)"],
      true,
    ],
  ])("%s", (_, shown, said, expected) => {
    expect(matchesShown(shown, said)).toBe(expected);
  });

  test("blocks are read in order with their kind", () => {
    expect(readBlocks("x\n```sh stack\na\nb\n```\n\n```text\nc\n```\n")).toEqual([
      { kind: "sh stack", text: "a\nb" },
      { kind: "text", text: "c" },
    ]);
  });
});

describe("the README", () => {
  test("[API-1-K1] begins with the two commands", () => {
    expect(
      readBlocks(README)[0]
        ?.text.split("\n")
        .map((line) => line.split("#")[0]?.trim()),
    ).toEqual(["npm ci && npm start", "npm ci && npm test"]);
  });

  test("[API-6-K1] shows the tool of five lines as the example has it", () => {
    const [shown] = readBlocks(README).filter(({ kind }) => kind === "ts");
    const example = readFileSync(join(ROOT, "examples/node-tool/count-words.ts"), "utf8");
    const code = example.split("\n").filter((line) => !line.startsWith("//"));
    expect(code.join("\n").trim()).toBe(shown?.text.trim());
  });

  test("its map and its links name what is there", () => {
    const folders = [...sectionOf(README, "Map").matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name ?? "");
    const links = [...README.matchAll(/\]\(([^)#]+)\)/g)].map(([, target]) => target ?? "");
    expect(folders.length).toBeGreaterThan(5);
    for (const path of [...folders, ...links]) expect.soft(existsSync(join(ROOT, path)), path).toBe(true);
  });

  test("its status names every package, and none that is not there", () => {
    const named = [...sectionOf(README, "Status").matchAll(/^\| `packages\/([a-z]+)` \|/gm)].map(([, name]) => name);
    const { workspaces } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { workspaces: string[] };
    expect(workspaces).toEqual(["packages/*"]);
    const folders = readdirSync(join(ROOT, "packages"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(named.toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
  });
});
