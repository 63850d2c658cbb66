// Imports OpenAPI documents that others wrote: `npm run openapi:foreign`. Writes docs/records/openapi-import.md.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { installDocuments, listSources, type Source, shownName } from "./documents.ts";
import type { ImportLine } from "./import-files.ts";
import type { RegisterLine } from "./register-large.ts";

const RECORD = new URL("../../docs/records/openapi-import.md", import.meta.url);
const log = (line: string): void => void process.stderr.write(`${line}\n`);

const runProgram = (name: string, args: readonly string[], input = ""): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const program = new URL(name, import.meta.url).pathname;
    const flags = ["--no-warnings", "--conditions=source", "--expose-gc", "--max-old-space-size=2048"];
    const child = spawn(process.execPath, [...flags, program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", () => resolve(Buffer.concat(chunks).toString("utf8").split("\n").filter(Boolean)));
    child.stdin.end(input);
  });

/** In one process, so that thousands are done in minutes; or each in its own, for its own peak of memory. */
const importFiles = async (files: readonly string[]): Promise<readonly ImportLine[]> =>
  (await runProgram("import-files.ts", [], files.join("\n"))).map((line) => JSON.parse(line) as ImportLine);

const reasonsOf = (lines: readonly ImportLine[]): ReadonlyMap<string, number> => {
  const reasons = new Map<string, number>();
  for (const { reason } of lines.flatMap(({ refused }) => refused)) {
    const general = reason
      .replace(/"[^"]*"/gu, '"..."')
      .replace(/file .* is/u, "file ... is")
      .slice(0, 110);
    reasons.set(general, (reasons.get(general) ?? 0) + 1);
  }
  return new Map([...reasons].sort(([, one], [, other]) => other - one));
};

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const row = (name: string, lines: readonly ImportLine[]): string => {
  const times = lines.map(({ ms }) => ms).sort((a, b) => a - b);
  const cells = [
    name,
    lines.length,
    megabytes(sum(lines.map(({ bytes }) => bytes))),
    sum(lines.map(({ found }) => found)),
    sum(lines.map(({ imported }) => imported)),
    sum(lines.map(({ refused }) => refused.length)),
    lines.filter(({ problem }) => problem !== undefined).length,
    times[Math.floor(times.length / 2)] ?? "",
    times.at(-1) ?? "",
  ];
  return `| ${cells.join(" | ")} |`;
};

const singleRow = (
  name: string,
  { bytes, found, imported, refused, ms, peakMb, definitionBytes }: ImportLine,
): string =>
  `| ${[name, megabytes(bytes), found, imported, refused.length, ms, peakMb, megabytes(definitionBytes)].join(" | ")} |`;

interface Imported {
  readonly source: Source;
  readonly lines: readonly ImportLine[];
}

const writeRecord = (
  imported: readonly Imported[],
  large: readonly (readonly [string, ImportLine])[],
  whole: RegisterLine,
): void => {
  const all = imported.flatMap(({ lines }) => lines);
  const problems = all.filter(({ problem }) => problem !== undefined);
  const load = loadavg()[0]?.toFixed(0);
  const text = `# OpenAPI documents of others

What becomes of documents that were not written for this project. \`npm run openapi:foreign\` installs them (\`bench/openapi/documents\` has a lock file of its own,
outside the root install), imports each one with the code that the server's thread runs, and writes this page.

${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores shared with other work (load ${load}), Node ${process.version.slice(1)}, Linux.

## By package

Documents, their size in MB, operations found, imported and refused, documents that were refused as a whole, and the median and longest time of one document.

| package | documents | MB | found | imported | refused | whole | ms | longest ms |
|---|---|---|---|---|---|---|---|---|
${imported.map(({ source, lines }) => row(`\`${source.name}\` ${source.version}`, lines)).join("\n")}

\`discord-api-spec\` has types and constants and no document.

## Why operations were refused

| operations | reason |
|---|---|
${[...reasonsOf(all)].map(([reason, count]) => `| ${count} | ${reason.replaceAll("|", "\\|")} |`).join("\n")}

Documents that were refused as a whole:

| document | reason |
|---|---|
${problems.map(({ file, problem = "" }) => `| \`${file.split("node_modules/")[1]}\` | ${problem.replaceAll("|", "\\|").slice(0, 160)} |`).join("\n")}

## Large documents

Each in a process of its own. MB: the document; peak MB: the highest resident size of the process, of which Node and our code take some 90; tools MB: the definitions
that are left when the document is dropped.

| document | MB | found | imported | refused | ms | peak MB | tools MB |
|---|---|---|---|---|---|---|---|
${large.map(([name, line]) => singleRow(name, line)).join("\n")}

## The whole way of GitHub's document

Read in a thread and registered with an engine, as \`toolplane up\` does it: ${whole.tools} tools in ${(whole.firstMs / 1000).toFixed(1)} s at the first start; a second start with the unchanged
document takes ${(whole.secondMs / 1000).toFixed(1)} s and writes nothing. The heap of the server's process has ${whole.heapBeforeMb} MB before and ${whole.heapAfterMb} MB after both (the engine keeps what it compiled), and the
resident size is ${whole.rssAfterMb} MB. The longest pause of its event loop was ${whole.longestPauseMs} ms.
`;
  writeFileSync(RECORD, text);
};

await installDocuments(log);
const imported: Imported[] = [];
for (const source of listSources()) {
  log(`${source.name} ${source.version}: ${source.files.length} documents`);
  imported.push({ source, lines: source.files.length === 0 ? [] : await importFiles(source.files) });
}
const place = mkdtempSync(join(tmpdir(), "toolplane-openapi-"));
try {
  const files = imported.flatMap(({ source }) =>
    source.files.map((file) => ({ file, name: `\`${source.name}\` ${shownName(file, source)}` })),
  );
  const size = (file: string): number => statSync(file).size;
  const largest = files.toSorted((one, other) => size(other.file) - size(one.file)).slice(0, 6);
  const github = files.find(({ file }) => file.endsWith("/api.github.com.json"))?.file ?? "";
  const yaml = join(place, "github.yaml");
  writeFileSync(yaml, stringify(JSON.parse(readFileSync(github, "utf8")), { aliasDuplicateObjects: false }));
  const large: (readonly [string, ImportLine])[] = [];
  for (const { file, name } of [
    ...largest,
    { file: github, name: "GitHub's (JSON)" },
    { file: yaml, name: "GitHub's, written as YAML" },
  ]) {
    log(name);
    const [line] = await importFiles([file]);
    if (line !== undefined) large.push([name, line]);
  }
  log("the whole way");
  const [whole = "{}"] = await runProgram("register-large.ts", [github]);
  writeRecord(imported, large, JSON.parse(whole) as RegisterLine);
} finally {
  rmSync(place, { recursive: true, force: true });
}
log("docs/records/openapi-import.md is written");
