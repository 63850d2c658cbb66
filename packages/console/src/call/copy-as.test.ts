import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { asCommand, asCurl, asTypeScript, shellWord } from "./copy-as.ts";

const CALL = { url: "http://127.0.0.1:7420", project: "demo", toolName: "echo", arguments: { text: "it's $HOME" } };

test.each(["plain", "it's", '$HOME `id` \\ "q"', "", "line\nbreak", "-x", "*"])("a shell reads %j as it is", (text) => {
  expect(execFileSync("sh", ["-c", `printf %s ${shellWord(text)}`], { encoding: "utf8" })).toBe(text);
});

test("the three ways to make the call again", () => {
  expect(asCurl(CALL)).toContain("http://127.0.0.1:7420/projects/demo/calls");
  expect(asCurl(CALL)).toContain("$TOOLPLANE_TOKEN");
  expect(asCommand(CALL)).toBe(`toolplane call echo '{"text":"it'\\''s $HOME"}' --project demo`);
  expect(asTypeScript(CALL)).toContain('plane.call("echo", {\n  "text": "it\'s $HOME"\n})');
});
