// Finds the plugin in a module: an object or a class with executeTool (as the default export, as any export, or as the
// module's own functions), or tools made with defineTool.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isRecord, UsageError } from "@toolplane/protocol";
import type { Tool } from "../tools/define-tool.ts";
import type { HostPlugin } from "./plugin.ts";
import { createToolsPlugin } from "./tools-plugin.ts";

type Exports = Readonly<Record<string, unknown>>;

/** By shape: the tool may come from another copy of this package. */
const isTool = (value: unknown): value is Tool =>
  isRecord(value) && typeof value.run === "function" && typeof value.name === "string" && isRecord(value.parameters);

const isPlugin = (value: unknown): value is HostPlugin =>
  isRecord(value) && typeof (value as Partial<HostPlugin>).executeTool === "function";

const isPluginClass = (value: unknown): value is new () => HostPlugin =>
  typeof value === "function" && isPlugin(value.prototype);

const asPlugin = (value: unknown): HostPlugin | undefined => {
  if (isPluginClass(value)) return new value();
  return isPlugin(value) ? value : undefined;
};

const findTools = (exports: Exports): readonly Tool[] => {
  const found = Object.values(exports).flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]));
  return [...new Set(found.filter(isTool))];
};

const check = (plugin: HostPlugin, module: string): HostPlugin => {
  if (typeof plugin.getToolSchemas === "function") return plugin;
  throw new UsageError(`${module}: the plugin has executeTool but not getToolSchemas, so its tools could not be found`);
};

/** The plugin of a module's exports; the default export comes first. */
export const findPlugin = (exports: Exports, module: string): HostPlugin => {
  const { default: preferred, ...named } = exports;
  // A namespace object has no prototype methods, so a module with plain functions is a plugin like any object.
  for (const candidate of [preferred, { ...named }, ...Object.values(named)]) {
    const plugin = asPlugin(candidate);
    if (plugin !== undefined) return check(plugin, module);
  }
  const tools = findTools(exports);
  if (tools.length > 0) return createToolsPlugin(tools);
  throw new UsageError(
    `${module}: export an object or a class with getToolSchemas and executeTool, or tools made with defineTool`,
  );
};

export const loadPlugin = async (module: string, folder: string): Promise<HostPlugin> => {
  const path = resolve(folder, module);
  if (!existsSync(path)) throw new UsageError(`${path}: there is no such file`);
  return findPlugin((await import(pathToFileURL(path).href)) as Exports, module);
};
