// How the command line shows a version of a tool that waits for a person.

import type { Body } from "@toolplane/sdk/client";
import { cellOf, textOf } from "./body.ts";
import type { Output } from "./output.ts";
import { shorten } from "./plain-text.ts";

/** The part of a value that fits beside the other columns. */
const VALUE_WIDTH = 60;

export const partOf = (tool: Body, key: "pending" | "accepted"): Body => {
  const part = tool[key];
  return typeof part === "object" && part !== null ? (part as Body) : {};
};

export const pendingOf = (tool: Body): Body => partOf(tool, "pending");

const weakensOf = ({ weakens }: Body): readonly unknown[] => (Array.isArray(weakens) ? weakens : []);

/** What happened to a registration that waits; undefined when it does not wait. */
export const sayWaiting = (tool: Body): string | undefined => {
  if (textOf(tool, "outcome") !== "pending") return undefined;
  const pending = pendingOf(tool);
  const name = textOf(tool, "tool_name") ?? "?";
  const isDeleted = textOf(tool, "status") === "deleted" || textOf(tool, "status") === "pending";
  const weakens = weakensOf(pending).join(", ");
  const why =
    weakens === "" ? `${textOf(tool, "deleted_by") ?? "an operator"} deleted the tool` : `it weakens ${weakens}`;
  const inForce = isDeleted ? "no version is in force" : `version ${cellOf(tool, "version") ?? "?"} stays in force`;
  const version = cellOf(pending, "version") ?? "?";
  return `${name} version ${version} waits for an operator (${why}); ${inForce}; accept it with: toolplane tools accept ${name} --version ${version}`;
};

/** The waiting version beside the one in force, and what accepting it would change. */
export const showPending = (output: Output, name: string, tool: Body): void => {
  const pending = pendingOf(tool);
  const version = cellOf(pending, "version");
  if (version === null) return;
  const deletedBy = textOf(tool, "deleted_by");
  output.line(
    deletedBy === undefined
      ? `version ${version} waits to be accepted`
      : `version ${version} waits: ${deletedBy} deleted ${name}, accepting brings it back`,
  );
  showChanges(output, pending, "WAITING");
};

const shown = (value: unknown): string => shorten(value === null ? "-" : JSON.stringify(value), VALUE_WIDTH);

const changesOf = ({ changes }: Body): readonly Body[] => (Array.isArray(changes) ? changes : []) as readonly Body[];

/** What each version changed, under the list of versions. */
export const showHistory = (output: Output, versions: readonly Body[]): void => {
  for (const version of versions) {
    const changes = changesOf(version);
    if (changes.length === 0) continue;
    output.line(`version ${cellOf(version, "version") ?? "?"} changed`);
    output.table(
      changes,
      [
        { title: "FIELD", value: (change) => textOf(change, "field") },
        { title: "BEFORE", value: (change) => shown(change.from) },
        { title: "AFTER", value: (change) => shown(change.to) },
      ],
      "",
    );
  }
};

/** `pending`: a version that waits, or waited until it was accepted just now. */
export const showChanges = (output: Output, pending: Body, title: "WAITING" | "ACCEPTED"): void => {
  const changes = changesOf(pending);
  const weakens = weakensOf(pending);
  output.table(
    changes,
    [
      { title: "FIELD", value: (change) => textOf(change, "field") },
      { title: title === "WAITING" ? "IN FORCE" : "BEFORE", value: (change) => shown(change.from) },
      { title, value: (change) => shown(change.to) },
      { title: "", value: (change) => (weakens.includes(change.field) ? "weakens" : " ") },
    ],
    Number(cellOf(pending, "version")) === 1 ? "it is the first version" : "it changes nothing in the definition",
  );
};
