// The operations of a document, as far as they can be read: path, method, parameters of both levels, body, servers.

import { isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { type Located, ownMember, type References, refuse } from "./references.ts";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"] as const;

export interface ListedOperation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string | undefined;
  readonly operation: Located<JsonObject>;
  readonly pathItem: Located<JsonObject>;
}

export interface OperationList {
  readonly operations: readonly ListedOperation[];
  /** Path items that cannot be read, by their path. */
  readonly unreadable: readonly { readonly operation: string; readonly reason: string }[];
}

/** GitHub has a thousand. Naming looks at all of them, also at those that the configuration leaves out. */
const MAX_OPERATIONS = 50_000;

const asObject = ({ value, file }: Located<JsonValue | undefined>): Located<JsonObject> | undefined =>
  isRecord(value) && !Array.isArray(value) ? { value: value as JsonObject, file } : undefined;

export const objectAt = (
  references: References,
  located: Located<JsonValue | undefined>,
): Located<JsonObject> | undefined => asObject(references.follow(located));

const operationsIn = (references: References, path: string, item: Located<JsonObject>): readonly ListedOperation[] =>
  METHODS.flatMap((method) => {
    const operation = objectAt(references, { value: ownMember(item.value, method), file: item.file });
    if (operation === undefined) return [];
    const { operationId } = operation.value;
    const named = typeof operationId === "string" && operationId.trim() !== "" ? operationId.trim() : undefined;
    return [{ method, path, operationId: named, operation, pathItem: item }];
  });

export const listOperations = (references: References): OperationList => {
  const { value: root, file } = references.root;
  const paths = isRecord(root.paths) ? Object.entries(root.paths as JsonObject) : [];
  const operations: ListedOperation[] = [];
  const unreadable: { operation: string; reason: string }[] = [];
  for (const [path, value] of paths) {
    if (path.startsWith("x-")) continue;
    try {
      const item = objectAt(references, { value, file });
      if (item === undefined) throw refuse("it is not an object");
      if (!path.startsWith("/")) throw refuse("a path begins with /");
      operations.push(...operationsIn(references, path, item));
    } catch (error) {
      unreadable.push({ operation: path, reason: error instanceof Error ? error.message : "unreadable" });
    }
    if (operations.length > MAX_OPERATIONS)
      throw refuse(`it has more than ${MAX_OPERATIONS} operations: give a smaller document`);
  }
  return { operations, unreadable };
};
