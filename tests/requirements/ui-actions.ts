// Actions a person takes in a UI.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "UTP-13.1-1", source: "utp 13.1", part: "ui actions", text: "A UI action without action_id is dropped; every other refused action is acknowledged as rejected with its code." },
  { id: "UTP-13.1-2", source: "utp 13.1", part: "ui actions", text: "Missing agent, tool name or args, args or metadata that are not objects, and a missing turn id are each refused with their code." },
  { id: "UTP-13.1-3", source: "utp 13.1", part: "ui actions", text: "An agent that is not in the roster, or of another worker target, is refused." },
  { id: "UTP-13.1-4", source: "utp 13.1", part: "ui actions", text: "A tool that is not registered or not ui_allowed is refused." },
  { id: "UTP-13.1-5", source: "utp 13.1", part: "ui actions", text: "An agent in another turn answers busy with agent_busy." },
  { id: "UTP-13.1-7", source: "utp 13.1", part: "ui actions", text: "A repeated action is not executed twice: the stored outcome is acknowledged again, or busy while it runs." },
  { id: "UTP-13.1-8", source: "utp 13.1", part: "ui actions", text: "A repeated action after completion leaves the head idle." },
  { id: "UTP-13.1-9", source: "utp 13.1", part: "ui actions", text: "A UI action's result is appended to the output box, the head goes idle, and the acknowledgement says done or rejected." },
  { id: "UTP-13.1-10", source: "utp 13.1", part: "ui actions", text: "A suspended UI turn has a deadline and its timeout ends it." },
  { id: "UTP-13.1-11", source: "utp 13.1", part: "ui actions", text: "An acknowledgement is sent only when the head really moved." },
  { id: "UTP-13.1-12", source: "utp 13.1", part: "ui actions", text: "An acknowledgement never carries the text of an internal exception." },
  { id: "UTP-13.1-H1", source: "utp 13.1", part: "ui actions", text: "The same action over HTTP is admitted by the same checks, runs once, and is told how it ended." },
  { id: "UTP-W28-T1", source: "utp 15 W-28", part: "ui actions", text: "A suspended user-interface turn has a deadline, and its timeout is handled." },
] as const satisfies readonly Rule[];
