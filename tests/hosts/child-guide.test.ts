// The guide and the reference of tool hosts say what is true: their modules and conversations are run as they are written.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineHostTools } from "@toolplane/bridges";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../cli/program.ts";
import { readBlocks } from "../examples/readme.ts";
import { printInto, quoteForPrintf, ROOT } from "./child-hosts.ts";

const blocksOf = (page: string) => readBlocks(readFileSync(join(ROOT, page), "utf8"));
const guide = blocksOf("docs/guides/tool-hosts.md");
const blockOf = (kind: string, words: string): string =>
  guide.find((block) => block.kind === kind && block.text.includes(words))?.text ?? "";

const HOST = `"${process.execPath}" "${ROOT}bin/toolplane-host.mjs"`;

const createFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "toolplane-host-guide-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

test("[API-7-1] the guide's module, tried by hand with the guide's command, gives the guide's answer", async () => {
  const folder = createFolder();
  writeFileSync(join(folder, "tools.mjs"), blockOf("js", "getToolSchemas"));
  const command = blockOf("sh", "printf").replace("npx toolplane-host", HOST);
  const { out, code } = await runProgram(["sh", "-c", command], { cwd: folder });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(JSON.parse(blockOf("json", "words")));
});

test("[API-7-1] the guide's Python module is a host", () => {
  const file = join(createFolder(), "data_tools.py");
  writeFileSync(file, blockOf("python", "execute_tool"));
  const params = { tool_name: "shout", arguments: { text: "hi" }, state: {} };
  const line = JSON.stringify({ v: 1, id: "1", method: "execute_tool", params });
  const { lines } = printInto(["python3", `${ROOT}hosts/python/toolplane_host.py`, file], `${line}\\n`);
  expect(lines).toMatchObject([{ id: "1", ok: true, result: { value: { success: true, result: "HI" } } }]);
});

test("[HOST-4-15] the argument that names a session is called in the guide what it is called in a definition", () => {
  const tool = { name: "note", description: "", parameters: { type: "object" } };
  const { tools } = defineHostTools(
    { tools: [tool], refused: [], tags: undefined, requiredTags: undefined },
    { host: "book", projectId: "p", session: "argument", isRetrySafe: () => false },
    { compileSchema: () => () => [], sha256: () => "0".repeat(64) },
  );
  const [argument] = Object.keys(tools[0]?.definition.parameters.properties ?? {});
  const row = readFileSync(join(ROOT, "docs/guides/tool-hosts.md"), "utf8")
    .split("\n")
    .find((line) => line.startsWith("| `argument` |"));
  expect(argument).toBeTruthy();
  expect(row).toContain(`the argument \`${argument}\``);
});

test("[HOST-2-H1] the conversation of the reference is what a host says, word for word", () => {
  const page = readFileSync(join(ROOT, "docs/reference/tool-host-protocol.md"), "utf8").split("\n");
  const said = (mark: string) => page.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));
  const file = join(createFolder(), "counter.mjs");
  writeFileSync(
    file,
    `export const init = () => ({ count: 0 });
     export const getToolSchemas = () => [{ name: "count", parameters: { type: "object" } }];
     export const executeTool = ({ state, emit }) => (emit("counting"), { success: true, result: ++state.count });`,
  );
  const text = said("> ")
    .map((line) => `${quoteForPrintf(line)}\\n`)
    .join("");
  const { lines } = printInto([process.execPath, `${ROOT}bin/toolplane-host.mjs`, file], text);
  const answers = said("< ").map((line) => JSON.parse(line) as unknown);
  expect(answers).toHaveLength(6);
  expect(lines).toEqual(answers);
});
