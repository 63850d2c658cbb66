import { expect, test } from "vitest";
import { type ProjectAsked, planProject } from "./plan-project.ts";
import { pythonFiles } from "./python-project.ts";
import { typescriptFiles } from "./typescript-project.ts";

const asked: ProjectAsked = {
  folder: "words",
  language: undefined,
  version: "0.1.0",
  tarballs: [],
  checkout: undefined,
};

test("[API-2-K42] a project of an installed toolplane says that its packages are not published, and what to do", () => {
  const plan = planProject(asked);
  expect(plan).toMatchObject({ source: "registry", packages: { "@toolplane/sdk": "0.1.0" } });
  expect(typescriptFiles(plan)["README.md"]).toContain("`npm install` does not find them");
  expect(typescriptFiles(plan)["README.md"]).toContain("--packages DIR");
  expect(pythonFiles(plan, "")["README.md"]).toContain("not published to npm yet");
});

test("[API-2-K42] a project of a checkout links the packages of the checkout and runs them from source", () => {
  const plan = planProject({ ...asked, checkout: "/a b" });
  expect(plan).toMatchObject({ source: "checkout", packages: { "@toolplane/server": "file:/a b/packages/server" } });
  expect(typescriptFiles(plan)["package.json"]).toContain("node --conditions=source src/serve.ts");
  expect(pythonFiles(plan, "")["test_tools.py"]).toContain(`"node '/a b/bin/toolplane.mjs'"`);
});

test("[API-2-K42] tarballs that were named win over the checkout", () => {
  const tarballs = ["../t/toolplane-sdk-0.1.0.tgz", "../t/toolplane-server-0.1.0.tgz"];
  const plan = planProject({ ...asked, tarballs, checkout: "/a" });
  expect(plan).toMatchObject({ source: "tarballs", toolplane: "npx toolplane" });
  expect(typescriptFiles(plan)["package.json"]).not.toContain("--conditions=source");
});
