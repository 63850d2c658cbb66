// What a process loads: the client library of NATS only when it is used.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { programEnv } from "@toolplane/testkit";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const loaded = (url: string): { readonly libraries: string[]; readonly error: string } => {
  const code = `
    import { registerHooks } from "node:module";
    const libraries = [];
    registerHooks({ resolve(name, context, next) { if (name.startsWith("@nats-io/")) libraries.push(name); return next(name, context); } });
    const { defineTool, serveTools } = await import("@toolplane/sdk");
    await import("@toolplane/sdk/protocol");
    const tool = defineTool({ name: "t", description: "t", parameters: { type: "object" }, run: () => 1 });
    const error = await serveTools([tool], { url: ${JSON.stringify(url)}, target: "t", startupMs: 0 }).catch((e) => e.message);
    process.stdout.write(JSON.stringify({ libraries: [...new Set(libraries)], error }));
    process.exit(0);`;
  const argv = ["--conditions=source", "--input-type=module", "--eval", code];
  return JSON.parse(execFileSync(process.execPath, argv, { cwd: ROOT, encoding: "utf8", env: programEnv() })) as never;
};

test("[API-6-N2] a service over HTTP never loads the NATS client, one over NATS does", () => {
  const http = loaded("http://127.0.0.1:1");
  expect(http).toMatchObject({ libraries: [], error: expect.stringContaining("http://127.0.0.1:1") });
  const nats = loaded("nats://me:hunter2@127.0.0.1:1");
  expect(nats.libraries).toContain("@nats-io/transport-node");
  expect(nats.error).toContain("nats://127.0.0.1:1");
  expect(nats.error).not.toContain("hunter2");
});
