// One plane per NATS account: subjects, durables and the gateway have the same names in all planes. A second plane would answer
// a request about a call of the first with "there is no such call", and the result would be thrown away.
//   OP1. A starting process asks whether another plane is there, and then does not start.
//   OP2. Two planes that meet later, because NATS was away when the second one started, say so in their logs.
//   OP3. When the question cannot be asked, the start goes on: the log names the right that the NATS user lacks.

import type { NatsLink } from "@toolplane/bus/nats";
import type { Log } from "@toolplane/engine";
import { isRecord, isToolplaneError, PROTOCOL_VERSION, ToolplaneError, tryParseJsonStrict } from "@toolplane/protocol";
import pg from "pg";
import { READ_PLANE_ID } from "./plane-id.sql.ts";

export interface PlaneIdentity {
  /** Of its database. */
  readonly id: string;
  /** How people find it. */
  readonly process: string;
}

/** No project has the name `plane`: only planes may publish here (deploy/nats). */
const SUBJECT = `cg.${PROTOCOL_VERSION}.plane.public.rpc.plane.identity.ask`;

/** The first answer comes in milliseconds, or the server says at once that no process listens. */
const ANSWER_MS = 2_000;

/** Which planes answer: all, also our own; or only others. */
const ANYBODY = "anybody";
const OTHERS = "others";

const CONNECT_TIMEOUT_MS = 5_000;

export const readPlaneId = async (connection: pg.ClientConfig): Promise<string> => {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ readonly id: string }>(READ_PLANE_ID);
    return rows[0]?.id ?? "";
  } finally {
    await client.end().catch(() => {});
  }
};

type Link = Pick<NatsLink, "request" | "respond" | "onReconnect">;

const tryParseIdentity = (payload: string): PlaneIdentity | undefined => {
  const said = tryParseJsonStrict(payload);
  if (!isRecord(said) || typeof said.id !== "string" || typeof said.process !== "string") return undefined;
  return { id: said.id, process: said.process };
};

/** Another plane that answered; undefined when no plane answered, or only our own. */
const findOther = async (link: Link, self: PlaneIdentity, whom: string): Promise<PlaneIdentity | undefined> => {
  const payload = JSON.stringify({ ...self, whom });
  const { payload: answer } = await link.request({ subject: SUBJECT, headers: {}, payload }, { timeoutMs: ANSWER_MS });
  const found = tryParseIdentity(answer);
  return found === undefined || found.id === self.id ? undefined : found;
};

const TODO = "give each plane a NATS server or account of its own; stop the other one if it is not needed any more";

/** Only a plane may ask here, and the answer holds nothing but a process's name; other messages are not answered. */
const answerAs =
  (self: PlaneIdentity) =>
  async ({ payload }: { readonly payload: string }) => {
    const asked = tryParseJsonStrict(payload);
    if (!isRecord(asked) || typeof asked.id !== "string") return undefined;
    const isMeant = asked.whom === ANYBODY || (asked.whom === OTHERS && asked.id !== self.id);
    if (!isMeant) return undefined;
    return { headers: {}, payload: JSON.stringify(self) };
  };

/** Resolves when other planes can find us, until the link is closed; throws `conflict` when another plane is there. */
export const beOnlyPlane = async (link: Link, self: PlaneIdentity, log: Log): Promise<void> => {
  const find = async (whom: string): Promise<PlaneIdentity | undefined> => {
    try {
      return await findOther(link, self, whom);
    } catch (error) {
      if (isToolplaneError(error) && error.code === "auth_failed")
        log.warn("this NATS user may not ask whether another plane is there", { subject: SUBJECT });
      return undefined;
    }
  };
  const found = await find(ANYBODY);
  if (found !== undefined)
    throw new ToolplaneError(
      "conflict",
      `another plane, with another database, is on this NATS already: ${found.process}`,
      { detail: { todo: TODO } },
    );
  await link.respond(SUBJECT, `plane-${self.id}`, answerAs(self)).catch((error: unknown) => {
    if (!isToolplaneError(error) || error.code !== "auth_failed") throw error;
    log.warn("this NATS user may not answer whether a plane is there", { subject: SUBJECT });
  });
  link.onReconnect(() => {
    void find(OTHERS).then((other) => {
      if (other !== undefined)
        log.error("another plane is on this NATS too: results over NATS are lost", {
          process: other.process,
          todo: TODO,
        });
    });
  });
};
