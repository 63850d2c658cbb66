// The package table of docs/architecture.md, read as data, and its comparison with what the manifests declare.
//
// A row is `| \`name\` | built or planned | what lives here | imports |`; imports are names in backticks, of which those
// that are packages of the table are edges.

export interface PackageRow {
  readonly name: string;
  readonly isBuilt: boolean;
  readonly edges: readonly string[];
}

/** What the repository has: package -> packages of the workspace its manifest depends on. */
export type DeclaredEdges = ReadonlyMap<string, readonly string[]>;

const ROW = /^\| `([a-z]+)` \| (built|planned) \| [^|]+ \| ([^|]+) \|$/;

export const parseEdgeTable = (page: string): readonly PackageRow[] => {
  const rows = page
    .split("\n")
    .map((line) => ROW.exec(line))
    .filter((match) => match !== null);
  const names = new Set(rows.map(([, name]) => name ?? ""));
  return rows.map(([, name = "", state, imports = ""]) => ({
    name,
    isBuilt: state === "built",
    edges: [...imports.matchAll(/`([^`]+)`/g)].map(([, found]) => found ?? "").filter((found) => names.has(found)),
  }));
};

/**
 * One sentence per difference. Edges to or from a package that is only planned may be missing; edges too many are drift
 * at once.
 */
export const compareEdges = (rows: readonly PackageRow[], declared: DeclaredEdges): readonly string[] => {
  const drift: string[] = [];
  const byName = new Map(rows.map((row) => [row.name, row]));
  for (const [name, edges] of declared) {
    const row = byName.get(name);
    if (row === undefined) {
      drift.push(`packages/${name} is not in the table`);
      continue;
    }
    const expected = row.isBuilt ? row.edges.filter((edge) => byName.get(edge)?.isBuilt === true) : [];
    for (const edge of edges) if (!row.edges.includes(edge)) drift.push(`${name} declares ${edge}; the table does not`);
    for (const edge of expected)
      if (!edges.includes(edge)) drift.push(`the table lets ${name} import ${edge}; its manifest does not`);
  }
  return drift;
};

/** Packages whose word in the table is not what the folder shows. */
export const compareStates = (rows: readonly PackageRow[], withCode: ReadonlySet<string>): readonly string[] =>
  rows
    .filter(({ name, isBuilt }) => isBuilt !== withCode.has(name))
    .map(({ name, isBuilt }) => `${name} is said to be ${isBuilt ? "built" : "planned"} and is not`);
