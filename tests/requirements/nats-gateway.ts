// Rules the gateway on NATS and the configuration in deploy/nats keep.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "API-5-1", source: "interfaces 5", part: "server", text: "Clients without HTTP use request and reply on the rpc gateway subjects, which no stream captures, with the bodies of the HTTP routes." },
  { id: "API-5-3", source: "interfaces 5", part: "server", text: "A plain core subscription on a command subject works, at most once." },
  { id: "API-5-4", source: "interfaces 5", part: "server", text: "NATS users are bound to their actor token and targets; only the engine publishes wakeups and creates consumers." },
  { id: "API-5-5", source: "interfaces 5", part: "server", text: "Whatever is sent to the gateway gets one typed answer, and what is refused has changed nothing." },
  { id: "API-5-6", source: "interfaces 5", part: "server", text: "Both doors of a tool service give the same answers to the same questions." },
  { id: "API-5-7", source: "interfaces 5", part: "server", text: "The reference page of the gateway names every operation, and its examples are true." },
  { id: "SEC-12-1", source: "security 12", part: "server", text: "A tool's NATS user can publish only its report subject and subscribe only its command subject." },
  { id: "SEC-12-2", source: "security 12", part: "server", text: "Durable names are never chosen by a user." },
  { id: "SEC-12-3", source: "security 12", part: "server", text: "The gateway answers into the asker's inbox only: nobody can have the plane publish in its place." },
  { id: "UTP-W32-T1", source: "utp 15 W-32", part: "server", text: "A client of the bus cannot speak as another actor, and a tool service needs no database." },
  { id: "PAYLOAD-1", source: "utp D-27, issue 17.6", part: "server", text: "A program written from the older guide serves a tool on NATS whose target_subject is of that version; a command waits until a service listens." },
  { id: "PAYLOAD-2", source: "utp D-27, issue 17.6", part: "server", text: "A tool of the older version is served plainly: options say so by themselves, a lease is refused, a third version too." },
  { id: "PAYLOAD-3", source: "utp D-27, issue 17.6", part: "server", text: "What a payload says about identity must equal the call's row; a forged or stale one is refused and settles nothing." },
  { id: "PAYLOAD-4", source: "utp D-27, issue 17.6", part: "server", text: "The actor of a payload-style request is the NATS user's." },
  { id: "PAYLOAD-5", source: "utp D-27, issue 17.6", part: "server", text: "A payload-style report settles a call once, under its true identity; unknown fields are ignored." },
] as const satisfies readonly Rule[];
