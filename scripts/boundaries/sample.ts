// A small sound repository for the checks' tests: each test adds the one file that breaks it.

import { createWorkspace, type FileMap, type Workspace } from "./workspace.ts";

const manifest = (name: string, sections: Record<string, Record<string, string>>): string =>
  JSON.stringify({ name, ...sections });

const SOUND: Record<string, string> = {
  "package.json": manifest("toolplane", { devDependencies: { vitest: "1", typescript: "1" } }),
  "packages/protocol/package.json": manifest("@toolplane/protocol", { dependencies: { zod: "1" } }),
  "packages/protocol/src/index.ts": 'export { card } from "./card.ts";\n',
  "packages/protocol/src/card.ts": 'import { z } from "zod";\nexport const card = z;\n',
  "packages/engine/package.json": manifest("@toolplane/engine", {
    dependencies: { "@toolplane/protocol": "1" },
    devDependencies: { "fast-check": "1" },
  }),
  "packages/engine/src/index.ts": 'import { card } from "@toolplane/protocol";\nexport const engine = card;\n',
  "packages/testkit/package.json": manifest("@toolplane/testkit", { dependencies: { "@toolplane/engine": "1" } }),
};

export const sampleFiles = (extra: Record<string, string> = {}): FileMap =>
  new Map(Object.entries({ ...SOUND, ...extra }));

export const sampleWorkspace = (extra: Record<string, string> = {}): Workspace => createWorkspace(sampleFiles(extra));
