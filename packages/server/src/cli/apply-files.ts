// Registers from files. Each file has its own outcome, so one bad file does not keep the others out.

import { type Body, pathOf } from "@toolplane/sdk/client";
import type { CommandContext } from "./command.ts";
import { describeFailure, formatFailure } from "./error-line.ts";
import { EXIT } from "./exit-code.ts";
import { readInput } from "./input.ts";

const applyOne = async ({ client, project, io }: CommandContext, file: string, kind: string): Promise<Body> => {
  const text = await readInput(io, file);
  // JSON is also YAML, so only a file named .json is sent as JSON, for its stricter reader.
  const type = file.endsWith(".json") ? "application/json" : "application/yaml";
  return client.request({ method: "POST", path: pathOf("projects", project, kind), upload: { text, type } });
};

const warningsOf = ({ warnings }: Body): readonly string[] =>
  Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === "string") : [];

/** Resolves to the exit code; `say` makes the line for one that was registered. */
export const applyFiles = async (
  context: CommandContext,
  kind: "tools" | "profiles",
  say: (registered: Body) => string,
): Promise<number> => {
  const { args, output } = context;
  const items: Body[] = [];
  let failed = false;
  for (const file of args) {
    try {
      const registered = await applyOne(context, file, kind);
      items.push({ file, ...registered });
      if (!output.json) output.line(say(registered));
      for (const warning of warningsOf(registered)) output.note(`toolplane: ${warning}`);
    } catch (error) {
      if (args.length === 1) throw error;
      failed = true;
      const failure = describeFailure(error);
      items.push({ file, error: failure });
      output.note(formatFailure({ ...failure, message: `${file}: ${failure.message}` }, false));
    }
  }
  if (output.json) output.data({ items });
  return failed ? EXIT.failed : EXIT.ok;
};
