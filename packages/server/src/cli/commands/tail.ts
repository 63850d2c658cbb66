// `toolplane tail`: what happens in a project, as it happens. A lost connection is taken up again after the last event that
// was seen, so events are neither missed nor shown twice.

import { isRecord, tryParseJsonStrict } from "@toolplane/protocol";
import { type Body, pathOf } from "../client.ts";
import type { Command, CommandContext } from "../command.ts";
import { readEvents, type ServerEvent } from "../event-stream.ts";
import { EXIT } from "../exit-code.ts";
import { jsonText, oneLine } from "../plain-text.ts";
import { mayPass } from "../wait-for-call.ts";

/** Before the next try after a lost connection. */
const AGAIN_MS = 1_000;
/** `cg.v1r4.project.channel.`: the same in every line of one project. */
const COMMON_TOKENS = 4;

const parseEvent = ({ data }: ServerEvent): Body => {
  const value = tryParseJsonStrict(data, { maxBytes: Number.POSITIVE_INFINITY });
  return isRecord(value) ? value : { payload: value ?? null };
};

const show = ({ output, io }: CommandContext, event: ServerEvent): void => {
  const body = parseEvent(event);
  if (output.json) {
    output.data({ ...(event.id === undefined ? {} : { id: event.id }), event: event.event, ...body });
    return;
  }
  const subject =
    typeof body.subject === "string" ? body.subject.split(".").slice(COMMON_TOKENS).join(".") : event.event;
  const time = new Date(io.now()).toISOString().slice(11, 19);
  output.line(oneLine(`${time}  ${subject}  ${jsonText(body.payload ?? null)}`));
};

/** Shows what one connection brings; resolves to the last event's id when it ends. */
const follow = async (
  context: CommandContext,
  after: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const { client, project } = context;
  const headers = { accept: "text/event-stream", ...(after === undefined ? {} : { "last-event-id": after }) };
  const response = await client.open({ path: pathOf("projects", project, "events"), headers, signal });
  let last = after;
  try {
    for await (const event of response.body === null ? [] : readEvents(response.body)) {
      show(context, event);
      last = event.id ?? last;
    }
  } catch {
    // The connection broke or was given up; the caller knows which.
  }
  return last;
};

export const tailCommand: Command = {
  name: "tail",
  usage: "",
  least: 0,
  most: 0,
  options: ["project", "after"],
  summary: "show events as they happen, until Ctrl-C",
  async run(context) {
    const { io, output, client, flags, project } = context;
    const stopped = new AbortController();
    const stopListening = io.onStop(() => stopped.abort());
    const { signal } = stopped;
    let last = flags.after;
    let connected = false;
    try {
      while (!signal.aborted) {
        try {
          const before = last;
          if (!connected) output.progress(`waiting for events of project ${project}`);
          last = await follow(context, before, signal);
          connected = true;
          if (!signal.aborted) output.note(`the server at ${client.url} ended the stream; connecting again`);
        } catch (error) {
          if (signal.aborted) break;
          // A server that was there once may come back; one that was not is a mistake to be told.
          if (!connected || !mayPass(error)) throw error;
        }
        await io.sleep(AGAIN_MS, signal);
      }
      return EXIT.ok;
    } finally {
      output.progress("");
      stopListening();
    }
  },
};
