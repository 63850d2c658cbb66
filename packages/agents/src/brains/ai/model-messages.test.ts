import type { ModelMessage } from "@toolplane/protocol/agents";
import { describe, expect, test } from "vitest";
import { toSdkMessages } from "./model-messages.ts";

const call = (id: string, args: string) => ({ id, type: "function", function: { name: "echo", arguments: args } });

describe("a transcript for the SDK", () => {
  test("[ARCH-9-A12] calls, their answers together, reasoning where the provider takes it back", () => {
    const transcript: ModelMessage[] = [
      { role: "user", content: "Go." },
      {
        role: "assistant",
        content: "",
        tool_calls: [call("a", '{"x":1}'), call("b", "{bad"), call("c", "[1]")],
        reasoning_content: "Hm.",
      },
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "" },
      { role: "tool", tool_call_id: "c", content: "3" },
    ];
    const [, assistant, tool] = toSdkMessages(transcript, true);
    expect(assistant).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm." },
        { type: "tool-call", toolCallId: "a", toolName: "echo", input: { x: 1 } },
        { type: "tool-call", toolCallId: "b", toolName: "echo", input: { _raw: "{bad" } },
        { type: "tool-call", toolCallId: "c", toolName: "echo", input: { _raw: "[1]" } },
      ],
    });
    expect(tool).toMatchObject({
      role: "tool",
      content: [
        { toolCallId: "a", toolName: "echo", output: { type: "text", value: "1" } },
        { toolCallId: "b", output: { type: "text", value: "(no content)" } },
        { toolCallId: "c" },
      ],
    });
    expect(JSON.stringify(toSdkMessages(transcript, false))).not.toContain("Hm.");
  });

  test.each<[string, ModelMessage[], object[]]>([
    ["nothing", [], [{ role: "user", content: "(no instruction was given)" }]],
    ["an empty instruction", [{ role: "user", content: " " }], [{ role: "user", content: "(no content)" }]],
    [
      "a note of ours",
      [
        { role: "user", content: "Go." },
        { role: "system", content: "Hurry." },
      ],
      [
        { role: "user", content: "Go." },
        { role: "user", content: "System note: Hurry." },
      ],
    ],
    [
      "an answer first",
      [{ role: "assistant", content: "Hi." }],
      [
        { role: "user", content: "(the conversation goes on)" },
        { role: "assistant", content: "Hi." },
      ],
    ],
    [
      "an empty answer",
      [
        { role: "user", content: "Go." },
        { role: "assistant", content: "" },
      ],
      [
        { role: "user", content: "Go." },
        { role: "assistant", content: "(no content)" },
      ],
    ],
  ])("[ARCH-9-A12] no message is empty and the user's is first: %s", (_name, transcript, expected) => {
    expect(toSdkMessages(transcript, true)).toEqual(expected);
  });
});
