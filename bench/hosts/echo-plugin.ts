// The plugin our host runs in the bench: it gives back what it got.

import type { HostOutcome, HostToolCall } from "@toolplane/sdk/host";

export const getToolSchemas = (): { name: string; parameters: object }[] => [
  { name: "echo", parameters: { type: "object" } },
];

export const executeTool = async ({ arguments: given }: HostToolCall): Promise<HostOutcome> => ({
  success: true,
  result: given,
});
