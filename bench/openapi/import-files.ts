// Imports documents one after the other in this process, as the thread of the server does, and writes a line of JSON for each:
// what was found, imported and refused, how long it took, and how much memory the process has had at most until then.

import { readFileSync } from "node:fs";
import { understandError } from "@toolplane/protocol";
import { type ImportWork, importHere } from "@toolplane/server/internal";

export interface ImportLine {
  readonly file: string;
  readonly bytes: number;
  readonly version: string;
  readonly found: number;
  readonly imported: number;
  readonly refused: readonly { readonly operation: string; readonly reason: string }[];
  readonly definitionBytes: number;
  readonly ms: number;
  readonly peakMb: number;
  /** Why the document as a whole was refused. */
  readonly problem?: string | undefined;
}

const MEGABYTE = 1024 * 1024;

const workFor = (file: string): ImportWork => ({
  allow: [],
  document: { file },
  options: {
    name: "api",
    projectId: "demo",
    prefix: undefined,
    // Of every document, also of those whose servers are relative or on other hosts.
    baseUrl: "https://api.example.com",
    allowHosts: ["api.example.com", "*.github.com", "*.githubcopilot.com"],
    operations: undefined,
    auth: undefined,
    timeoutSeconds: undefined,
    documentUrl: undefined,
  },
});

const importOne = (file: string): ImportLine => {
  const bytes = readFileSync(file).byteLength;
  const startedAt = performance.now();
  const finish = (more: Omit<ImportLine, "file" | "bytes" | "ms" | "peakMb">): ImportLine => ({
    file,
    bytes,
    ...more,
    ms: Math.round(performance.now() - startedAt),
    peakMb: Math.round((process.resourceUsage().maxRSS * 1024) / MEGABYTE),
  });
  try {
    const { version, found, tools, refused } = importHere(workFor(file));
    const definitionBytes = tools.reduce((sum, { definition }) => sum + JSON.stringify(definition).length, 0);
    return finish({ version, found, imported: tools.length, refused, definitionBytes });
  } catch (error) {
    const problem = understandError(error, { keepMessage: true }).message;
    return finish({ version: "", found: 0, imported: 0, refused: [], definitionBytes: 0, problem });
  }
};

for (const file of readFileSync(0, "utf8").split("\n").filter(Boolean))
  process.stdout.write(`${JSON.stringify(importOne(file))}\n`);
