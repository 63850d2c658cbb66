// Which rules the tests say they prove. A claim is a rule's id in square brackets inside a string of a test file or of
// a contract suite: a title, or a row of a table that becomes one. Comments claim nothing.

import ts from "typescript";
import { walk } from "../../scripts/boundaries/workspace.ts";

export interface Proof {
  readonly id: string;
  readonly file: string;
}

/** AREA-rest: at least two capitals, so that a character class such as [A-Z0-9] is not a claim. */
const CLAIM = /\[([A-Z]{2,}-[A-Za-z0-9.-]+)\]/g;

export const mayProve = (path: string): boolean => path.endsWith(".test.ts") || path.endsWith(".contract.ts");

const isText = (node: ts.Node): node is ts.LiteralLikeNode => ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);

export const listProofs = (file: string, text: string): readonly Proof[] => {
  const ids = new Set<string>();
  walk(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), (node) => {
    if (!isText(node)) return;
    for (const [, id] of node.text.matchAll(CLAIM)) if (id !== undefined) ids.add(id);
  });
  return [...ids].map((id) => ({ id, file }));
};
