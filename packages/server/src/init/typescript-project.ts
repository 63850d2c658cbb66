// A tool project in TypeScript: one tool, the program that serves it, and tests without a plane and with a throw-away one.

import type { ProjectPlan } from "./plan-project.ts";

const TOOLS = `import { defineTool } from "@toolplane/sdk";
import { z } from "zod";

export const countWords = defineTool({
  name: "count_words",
  description: "Count the words of a text",
  parameters: z.object({ text: z.string() }),
  retry: "safe",
  run: async ({ text }) => ({ words: text.split(/\\s+/).filter(Boolean).length }),
});
`;

const serveProgram = (target: string): string => `import { serveTools } from "@toolplane/sdk";
import { countWords } from "./tools.ts";

await serveTools([countWords], { target: "${target}" });
`;

const TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { runTool } from "@toolplane/sdk/testing";
import { openPlane } from "@toolplane/server";
import { countWords } from "../src/tools.ts";

test("the tool by itself", async () => {
  assert.deepEqual(await runTool(countWords, { text: "one two three" }), { words: 3 });
  await assert.rejects(runTool(countWords, { text: 3 }), { code: "bad_request" });
});

test("a durable call, on a plane that is thrown away afterwards", async () => {
  await using plane = await openPlane({ ephemeral: true });
  await plane.serve([countWords]);
  assert.deepEqual(await plane.call("count_words", { text: "one two three" }), { words: 3 });
});
`;

const INSTALLING: Readonly<Record<ProjectPlan["source"], string>> = {
  registry: `
The packages of Toolplane are not published to npm yet, so \`npm install\` does not find them. In a checkout of Toolplane \`npm run pack\` makes tarballs
of them: make the project with \`toolplane init --packages DIR\`, where DIR is the folder with the tarballs.
`,
  tarballs: `
The packages of Toolplane come from the tarballs that \`package.json\` names; they are not published to npm yet.
`,
  checkout: `
The packages of Toolplane are links into the checkout that made this project: they are not published to npm yet. \`--conditions=source\` makes Node run
them as they are, without a build. The folder of the checkout must stay where it is.
`,
};

const readme = ({ name, target, source }: ProjectPlan): string => `# ${name}
${INSTALLING[source]}
Node 22.18 or later is needed (\`node --version\`).

\`\`\`sh
npm install
npm test                       # the tool by itself, and on a throw-away plane
npx toolplane up --demo        # a plane; leave it running
\`\`\`

In another shell, in the same folder: the service and the commands find the plane of the folder \`.toolplane\` there, whatever its port. A service that runs follows the plane to another port. For a plane elsewhere set
\`TOOLPLANE_URL\`.

\`\`\`sh
export TOOLPLANE_TOKEN=$(npx toolplane token create --role tool --targets ${target})
npm start                      # serves src/tools.ts
\`\`\`

And in a third: \`npx toolplane call count_words '{"text": "one two three"}'\`
`;

const manifest = ({ name, packages, source }: ProjectPlan): string => {
  const node = source === "checkout" ? "node --conditions=source" : "node";
  return `${JSON.stringify(
    {
      name,
      private: true,
      type: "module",
      scripts: { start: `${node} src/serve.ts`, test: `${node} --test "test/*.test.ts"` },
      dependencies: { ...packages, zod: "^4.6.7" },
      engines: { node: ">=22.18" },
    },
    null,
    2,
  )}\n`;
};

export const typescriptFiles = (plan: ProjectPlan): Readonly<Record<string, string>> => ({
  "package.json": manifest(plan),
  "README.md": readme(plan),
  ".gitignore": "node_modules/\n.toolplane/\n",
  "src/tools.ts": TOOLS,
  "src/serve.ts": serveProgram(plan.target),
  "test/tools.test.ts": TEST,
});
