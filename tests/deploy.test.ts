// The files of deploy/docker cannot be built here: no container runtime. What they name is held against what exists.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");
const DOCKERFILE = read("deploy/docker/Dockerfile");
const COMPOSE = parse(read("deploy/docker/compose.yaml")) as {
  readonly services: Readonly<
    Record<string, { readonly environment?: Record<string, string>; readonly build?: object }>
  >;
};

test("[REPO-docker] every variable of the plane that the files set is one that it reads", () => {
  const settings = read("docs/reference/configuration.md");
  const named = [DOCKERFILE, ...Object.keys(COMPOSE.services.toolplane?.environment ?? {})]
    .join("\n")
    .match(/TOOLPLANE_[A-Z_]+/g);
  expect(new Set(named)).toContain("TOOLPLANE_DATABASE_URL");
  for (const name of new Set(named)) expect(settings, name).toContain(name);
});

test("[REPO-docker] the image runs what the repository has: its scripts, its command and its port", () => {
  const { scripts, engines } = JSON.parse(read("package.json")) as {
    scripts: Record<string, string>;
    engines: { node: string };
  };
  for (const [, name] of DOCKERFILE.matchAll(/npm run ([a-z:]+)/g)) expect(scripts[name ?? ""], name).toBeDefined();
  const node = Number(/^FROM node:(\d+)/m.exec(DOCKERFILE)?.[1]);
  expect(node).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)?.[0]));
  expect(DOCKERFILE).toContain('CMD ["toolplane", "up"]');
  expect(DOCKERFILE).toMatch(/^EXPOSE 7420$/m);
  expect(COMPOSE.services.toolplane?.build).toEqual({ context: "../..", dockerfile: "deploy/docker/Dockerfile" });
});
