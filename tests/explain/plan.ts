// What is wrong with a plan, seen from its JSON.
//   wholeScans: a table that is read without being led to the rows by an index condition (or a row's place). A scan of a
//               whole index is as long as the table.
//   cteJoins:   the rows of a CTE looked through again for each of many others: a flush of 256 makes 65,536 comparisons.

export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "TID Cond"?: string;
  readonly "CTE Name"?: string;
  readonly "Parent Relationship"?: string;
  readonly "Subplan Name"?: string;
  readonly Strategy?: string;
  /** Of a plan that was carried out: how often; 0 when its turn never came. */
  readonly "Actual Loops"?: number;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly PlanNode[];
}

const everyNode = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(everyNode)];

const isWholeScan = (node: PlanNode): boolean =>
  node["Node Type"].endsWith("Scan") &&
  node["Relation Name"] !== undefined &&
  node["Index Cond"] === undefined &&
  node["TID Cond"] === undefined;

export const wholeScans = (plan: PlanNode): readonly string[] =>
  everyNode(plan)
    .filter(isWholeScan)
    .map((node) => `${node["Node Type"]} of ${node["Relation Name"]} by ${node["Index Name"] ?? "nothing"}`);

/** The columns an index condition compares, as far as they are named plainly. */
const comparedColumns = (condition: string): readonly string[] => [
  ...new Set(
    [...condition.matchAll(/\(\(?(?:\w+\.)?(\w+)\)?(?:::\w+)? (?:=|<|>|<=|>=|IS) /g)].map(([, column]) => column ?? ""),
  ),
];

/** Scans that are led by nothing but the project: as long as all that a project ever had. */
export const projectScans = (plan: PlanNode): readonly string[] =>
  everyNode(plan)
    .filter((node) => {
      if (node["Relation Name"] === "projects") return false;
      const columns = comparedColumns(node["Index Cond"] ?? "");
      return columns.length === 1 && columns[0] === "project_id";
    })
    .map((node) => `${node["Node Type"]} of ${node["Relation Name"] ?? "?"} by ${node["Index Name"] ?? "?"}`);

/** What gives one row whatever the tables hold: constants, and aggregates without groups. */
const isSingleRow = (node: PlanNode | undefined): boolean =>
  node?.["Node Type"] === "Result" || (node?.["Node Type"] === "Aggregate" && node.Strategy === "Plain");

/** The scan a join repeats, below what only passes its rows on. */
const repeated = (node: PlanNode | undefined): PlanNode | undefined =>
  node !== undefined && ["Materialize", "Memoize", "Subquery Scan"].includes(node["Node Type"])
    ? repeated(node.Plans?.[0])
    : node;

export const cteJoins = (plan: PlanNode): readonly string[] => {
  const nodes = everyNode(plan);
  const short = new Set(nodes.filter(isSingleRow).map((node) => node["Subplan Name"]?.replace("CTE ", "")));
  return nodes
    .filter((node) => node["Node Type"] === "Nested Loop")
    .flatMap((node) => {
      const side = (which: string): PlanNode | undefined =>
        node.Plans?.find((part) => part["Parent Relationship"] === which);
      const inner = repeated(side("Inner"));
      const name = inner?.["Node Type"] === "CTE Scan" ? inner["CTE Name"] : undefined;
      return name === undefined || short.has(name) || isSingleRow(side("Outer")) ? [] : [name];
    });
};
