// Reads answers of the server. The server is ours, but its version may differ, so every field is checked.

import { isRecord, ToolplaneError } from "@toolplane/protocol";
import type { Body } from "@toolplane/sdk/client";

export const textOf = (body: Body, key: string): string | undefined => {
  const value = body[key];
  return typeof value === "string" && value !== "" ? value : undefined;
};

/** A text the command cannot go on without. */
export const parseText = (body: Body, key: string): string => {
  const value = textOf(body, key);
  if (value === undefined) throw new ToolplaneError("upstream_unavailable", `the server's answer has no ${key}`);
  return value;
};

/** A cell of a table: texts and numbers as they are, everything else by its JSON. */
export const cellOf = (body: Body, key: string): string | number | null => {
  const value = body[key];
  if (typeof value === "string" || typeof value === "number") return value;
  return value === null || value === undefined ? null : JSON.stringify(value);
};

export const itemsOf = (body: Body): readonly Body[] => (Array.isArray(body.items) ? body.items.filter(isRecord) : []);

/** `target` of a tool: the service its commands go to. */
export const targetOf = (tool: Body): string => (textOf(tool, "target_subject") ?? "").split(".")[6] ?? "";

/** Times to the second: the rest is for machines. */
export const shortTime = (body: Body, key: string): string | null => {
  const time = Date.parse(textOf(body, key) ?? "");
  return Number.isNaN(time) ? null : `${new Date(time).toISOString().slice(0, 19)}Z`;
};
