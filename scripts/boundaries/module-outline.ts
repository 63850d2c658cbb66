// What one file declares, what each declaration mentions, what the file imports and exports. Names are compared as text:
// a local variable with the name of a declaration counts as a mention of it, so the outline may see a use too many and
// never one too few.

import { dirname, join } from "node:path/posix";
import ts from "typescript";
import { isRelative } from "./import-sites.ts";
import { lineOf, type Workspace, walk } from "./workspace.ts";

/** A name of another file; "*" stands for everything that file exports. */
export interface Foreign {
  readonly file: string;
  readonly name: string;
}

export interface Declaration {
  readonly line: number;
  readonly mentions: ReadonlySet<string>;
  /** What it loads by itself: `await import(...)`, `new URL("./program.ts", import.meta.url)`. */
  readonly loads: readonly Foreign[];
}

export interface Export {
  readonly line: number;
  readonly isType: boolean;
  readonly origin: string | Foreign;
}

export interface Outline {
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** What runs when the file is loaded: statements that declare nothing. */
  readonly onLoad: Declaration;
  readonly imports: ReadonlyMap<string, Foreign>;
  readonly exports: ReadonlyMap<string, Export>;
}

type Resolve = (specifier: string) => string | undefined;

/** Relative paths, our own packages by the `source` entries of their manifests, and files named from the root. */
export const createResolve = (workspace: Workspace, path: string): Resolve => {
  return (specifier) => {
    if (isRelative(specifier)) return join(dirname(path), specifier);
    if (workspace.sources.has(specifier)) return specifier;
    for (const manifest of workspace.manifests.values()) {
      const entry = manifest.entries.get(specifier);
      if (entry !== undefined) return entry;
    }
    return undefined;
  };
};

/** `x.name`, `{ name: 1 }`, `{ name: local }` of a pattern: the name of a member, not of a declaration. */
const isMemberName = (node: ts.Identifier): boolean => {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  if (ts.isQualifiedName(parent)) return parent.right === node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  if (ts.isNamedTupleMember(parent)) return parent.name === node;
  return (
    (ts.isPropertyAssignment(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isMethodSignature(parent) ||
      ts.isMethodDeclaration(parent)) &&
    parent.name === node
  );
};

const textOf = (node: ts.Node | undefined): string | undefined =>
  node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;

/** `new URL("./a.ts", ...)`, or `./a.${extension}` for a program that is .ts here and .js when built. */
const programOf = (node: ts.NewExpression): string | undefined => {
  const [first] = node.arguments ?? [];
  if (!ts.isIdentifier(node.expression) || node.expression.text !== "URL" || first === undefined) return undefined;
  const text = ts.isTemplateExpression(first) ? `${first.head.text}ts` : textOf(first);
  return text !== undefined && isRelative(text) && /\.(?:ts|mjs)$/.test(text) ? text : undefined;
};

/** `const { a, b } = await import(...)` takes two names, every other form takes all. */
const takenNames = (node: ts.CallExpression): readonly string[] => {
  const declaration = ts.isAwaitExpression(node.parent) ? node.parent.parent : node.parent;
  if (!ts.isVariableDeclaration(declaration) || !ts.isObjectBindingPattern(declaration.name)) return ["*"];
  return declaration.name.elements.map(({ name, propertyName }) => (propertyName ?? name).getText());
};

const loadsOf = (node: ts.Node, resolve: Resolve): readonly Foreign[] => {
  const all = (specifier: string | undefined, names: readonly string[]): readonly Foreign[] => {
    const file = specifier === undefined ? undefined : resolve(specifier);
    return file === undefined ? [] : names.map((name) => ({ file, name }));
  };
  if (ts.isNewExpression(node)) return all(programOf(node), ["*"]);
  // vitest's configuration in the root names its set-up files by their paths.
  const isNamed = ts.isStringLiteral(node) && node.text.startsWith("packages/");
  if (isNamed && !node.getSourceFile().fileName.includes("/")) return all(node.text, ["*"]);
  if (ts.isCallExpression(node)) {
    const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
    return isImport ? all(textOf(node.arguments[0]), takenNames(node)) : [];
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const name = node.qualifier === undefined ? "*" : node.qualifier.getText().split(".")[0];
    return all(textOf(node.argument.literal), [name ?? "*"]);
  }
  return [];
};

const declarationOf = (source: ts.SourceFile, node: ts.Node, resolve: Resolve): Declaration => {
  const mentions = new Set<string>();
  const loads: Foreign[] = [];
  walk(node, (inner) => {
    if (ts.isIdentifier(inner) && !isMemberName(inner)) mentions.add(inner.text);
    loads.push(...loadsOf(inner, resolve));
  });
  return { line: lineOf(source, node), mentions, loads };
};

const namesOf = (name: ts.BindingName): readonly string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : namesOf(element.name)));

const declaredBy = (statement: ts.Statement): readonly (readonly [string, ts.Node])[] => {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap((one) =>
      namesOf(one.name).map((name) => [name, one] as const),
    );
  }
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name !== undefined ? [[statement.name.text, statement]] : [];
};

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

const importedBy = (statement: ts.ImportDeclaration, file: string): readonly (readonly [string, Foreign])[] => {
  const clause = statement.importClause;
  const bindings = clause?.namedBindings;
  const whole = clause?.name === undefined ? [] : [[clause.name.text, { file, name: "default" }] as const];
  if (bindings === undefined) return whole;
  if (ts.isNamespaceImport(bindings)) return [[bindings.name.text, { file, name: "*" }]];
  return bindings.elements.map(({ name, propertyName }) => [name.text, { file, name: (propertyName ?? name).text }]);
};

export const outlineOf = (source: ts.SourceFile, resolve: Resolve): Outline => {
  const declarations = new Map<string, Declaration>();
  const imports = new Map<string, Foreign>();
  const exports = new Map<string, Export>();
  const onLoad = { line: 1, mentions: new Set<string>(), loads: [] as Foreign[] };
  for (const statement of source.statements) {
    const line = lineOf(source, statement);
    if (ts.isImportDeclaration(statement)) {
      const file = resolve(textOf(statement.moduleSpecifier) ?? "");
      if (file === undefined) continue;
      if (statement.importClause === undefined) onLoad.loads.push({ file, name: "*" });
      for (const [local, foreign] of importedBy(statement, file)) imports.set(local, foreign);
    } else if (ts.isExportDeclaration(statement)) {
      if (statement.exportClause === undefined || !ts.isNamedExports(statement.exportClause)) continue;
      const file = statement.moduleSpecifier && resolve(textOf(statement.moduleSpecifier) ?? "");
      if (statement.moduleSpecifier !== undefined && file === undefined) continue;
      for (const element of statement.exportClause.elements) {
        const name = (element.propertyName ?? element.name).text;
        const origin = file === undefined ? name : { file, name };
        const isType = statement.isTypeOnly || element.isTypeOnly;
        exports.set(element.name.text, { line: lineOf(source, element), isType, origin });
      }
    } else {
      const declared = declaredBy(statement);
      for (const [name, node] of declared) {
        // Overloads, and a type with the name of a value, are one declaration.
        const own = declarationOf(source, node, resolve);
        const before = declarations.get(name);
        declarations.set(name, {
          line: before?.line ?? line,
          mentions: new Set([...own.mentions, ...(before?.mentions ?? [])]),
          loads: [...own.loads, ...(before?.loads ?? [])],
        });
        const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
        if (isExported(statement)) exports.set(name, { line, isType, origin: name });
      }
      if (declared.length > 0) continue;
      const own = declarationOf(source, statement, resolve);
      for (const name of own.mentions) onLoad.mentions.add(name);
      onLoad.loads.push(...own.loads);
    }
  }
  return { declarations, onLoad, imports, exports };
};
