// A stateful session tool: a notebook. The host keeps nothing; the state comes with every call and goes back with its answer,
// so sessions survive a restart of the host and do not see each other.
//
//     npx toolplane-host examples/hosts/notebook.ts

import type { HostOutcome, HostPlugin, HostToolCall } from "@toolplane/sdk/host";

interface Notebook {
  readonly limit: number;
  readonly notes: string[];
}

const addNote = ({ arguments: { text }, state }: HostToolCall<Notebook>): HostOutcome => {
  if (typeof text !== "string" || text === "") return { success: false, error: "a note needs a text" };
  if (state.notes.length >= state.limit) return { success: false, error: `the notebook is full: ${state.limit} notes` };
  state.notes.push(text);
  return { success: true, result: { number: state.notes.length } };
};

const readNotes = ({ state }: HostToolCall<Notebook>): HostOutcome => ({ success: true, result: state.notes });

const tools: Readonly<Record<string, (call: HostToolCall<Notebook>) => HostOutcome>> = {
  add_note: addNote,
  read_notes: readNotes,
};

export const notebook: HostPlugin<Notebook> = {
  getConfigSchema: () => ({
    type: "object",
    properties: { limit: { type: "integer", minimum: 1 } },
    additionalProperties: false,
  }),
  init: ({ limit }) => ({ limit: typeof limit === "number" ? limit : 100, notes: [] }),
  getToolSchemas: () => [
    {
      name: "add_note",
      description: "Write a note into this session's notebook",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
    { name: "read_notes", description: "Read this session's notes", parameters: { type: "object", properties: {} } },
  ],
  executeTool: (call) => tools[call.toolName]?.(call) ?? { success: false, error: `there is no tool ${call.toolName}` },
  formatToolCallPreview: ({ toolName, arguments: { text } }) =>
    toolName === "add_note" ? `note: ${String(text)}` : "read the notes",
};
