// A streaming tool: it shows each step while it works, stops when it is canceled, and is slowed down to what is read.
//
//     npx toolplane-host examples/hosts/countdown.ts

import { setTimeout as pause } from "node:timers/promises";
import type { HostOutcome, HostToolCall } from "@toolplane/sdk/host";

const MAX_STEPS = 1000;

export class Countdown {
  getToolSchemas(): object[] {
    const parameters = {
      type: "object",
      properties: {
        from: { type: "integer", minimum: 1, maximum: MAX_STEPS },
        pause_ms: { type: "integer", minimum: 0, default: 10 },
      },
      required: ["from"],
    };
    return [{ name: "count_down", description: "Count down to zero, step by step", parameters }];
  }

  async executeTool({ toolName, arguments: given, emit, signal, log }: HostToolCall): Promise<HostOutcome> {
    if (toolName !== "count_down") return { success: false, error: `there is no tool ${toolName}` };
    const { from, pause_ms: pauseMs = 10 } = given as { from: number; pause_ms?: number };
    log.info("counting", { from });
    for (let left = from; left > 0; left--) {
      await emit({ left });
      // Throws when the call is canceled or out of time; the host answers for us.
      await pause(pauseMs, undefined, { signal });
    }
    return { success: true, result: { counted: from } };
  }
}
