// Which tool is called, and with which arguments: those of the command line, else those of the service's registration.

import type { ToolDefinition } from "@toolplane/protocol";
import { WrongUsage } from "../cli/wrong-usage.ts";
import { parseArguments, type SamplePair, sampleArguments } from "./sample-arguments.ts";

export interface ToolWish {
  readonly target: string;
  readonly tool?: string | undefined;
  /** JSON text. */
  readonly arguments?: string | undefined;
}

export interface ChosenTool {
  readonly name: string;
  /** Known when the service registered it. */
  readonly targetSubject: string | undefined;
  readonly samples: SamplePair;
  /** Whether it takes leases, as its definition says. */
  readonly service: "plain" | "leased" | undefined;
}

const TARGET_TOKEN = 6;
const targetOf = ({ target_subject }: ToolDefinition): string => target_subject.split(".")[TARGET_TOKEN] ?? "";

export const chooseTool = (wish: ToolWish, registered: readonly ToolDefinition[]): ChosenTool => {
  const { target, tool, arguments: given } = wish;
  const known = registered.find((one) => (tool === undefined ? targetOf(one) === target : one.tool_name === tool));
  const name = tool ?? known?.tool_name;
  if (name === undefined || (known === undefined && given === undefined)) {
    const missing = tool === undefined ? `tool for target ${target}` : `tool ${tool}`;
    throw new WrongUsage(
      `the service registered no ${missing}: name one with --tool and arguments it takes with --arguments`,
      "conform",
    );
  }
  const samples = given === undefined ? sampleArguments(known?.parameters ?? {}) : parseArguments(given);
  const service = known === undefined ? undefined : known.options.service === "plain" ? "plain" : "leased";
  return { name, targetSubject: known?.target_subject, samples, service };
};
