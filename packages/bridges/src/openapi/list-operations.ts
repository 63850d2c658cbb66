// The operations of a document, as far as they can be read: path, method, parameters of both levels, body, servers.

import { badRequest, isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { type Located, ownMember, type References } from "./references.ts";

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

/** A longer one is as good as none: the operation is named after its path. */
const MAX_ID = 256;
const MAX_PATH = 2_048;
const MAX_SHOWN = 120;

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
    const id = typeof operationId === "string" && operationId.length <= MAX_ID ? operationId.trim() : "";
    const named = id === "" ? undefined : id;
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
      if (item === undefined) throw badRequest("it is not an object");
      if (!path.startsWith("/")) throw badRequest("a path begins with /");
      if (path.length > MAX_PATH) throw badRequest(`a path has at most ${MAX_PATH} characters`);
      operations.push(...operationsIn(references, path, item));
    } catch (error) {
      unreadable.push({
        operation: path.slice(0, MAX_SHOWN).toWellFormed(),
        reason: error instanceof Error ? error.message : "unreadable",
      });
    }
    if (operations.length > MAX_OPERATIONS)
      throw badRequest(`it has more than ${MAX_OPERATIONS} operations: give a smaller document`);
  }
  return { operations, unreadable };
};
