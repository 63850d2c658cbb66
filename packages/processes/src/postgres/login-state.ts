// Asks a server how it would treat a login, without logging in: the first message of the protocol, and the first byte of
// the answer. It costs the server a fraction of a real connection, and needs no password.

import { createConnection } from "node:net";
import { join } from "node:path";

/**
 * `away`: no server, or one that takes no connections yet; `open`: it lets that login in without a password; `closed`: it
 * asks for one, or refuses.
 */
export type LoginState = "away" | "open" | "closed";

const PROTOCOL_3 = 196_608;
/** A server that listens and does not answer within this time is stopped or overloaded. */
const ANSWER_MS = 5000;
const AUTHENTICATION = "R";
const ERROR = "E";
/** Type, length and the kind of authentication; 0 is "you are in". */
const AUTHENTICATION_BYTES = 9;
/** SQLSTATE class 28: the login itself is refused. */
const REFUSED = "C28";

const startupMessage = (user: string): Buffer => {
  const body = Buffer.from(`user\0${user}\0database\0postgres\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + head.length, 0);
  head.writeInt32BE(PROTOCOL_3, 4);
  return Buffer.concat([head, body]);
};

/** Undefined while too little has come to say. */
export const tryParseAnswer = (answer: Buffer): LoginState | undefined => {
  const kind = answer.toString("latin1", 0, 1);
  if (kind === AUTHENTICATION && answer.length >= AUTHENTICATION_BYTES)
    return answer.readInt32BE(5) === 0 ? "open" : "closed";
  if (kind !== ERROR || answer.length < 5 || answer.length < 1 + answer.readInt32BE(1)) return undefined;
  const fields = answer.toString("latin1", 5).split("\0");
  return fields.some((field) => field.startsWith(REFUSED)) ? "closed" : "away";
};

export const readLoginState = (socketDir: string, port: number, user: string): Promise<LoginState> =>
  new Promise((resolve) => {
    const socket = createConnection(join(socketDir, `.s.PGSQL.${port}`));
    let answer = Buffer.alloc(0);
    const end = (state: LoginState): void => {
      socket.destroy();
      resolve(state);
    };
    socket.setTimeout(ANSWER_MS, () => end("away"));
    socket.once("connect", () => socket.write(startupMessage(user)));
    socket.on("data", (chunk) => {
      answer = Buffer.concat([answer, chunk]);
      const state = tryParseAnswer(answer);
      if (state !== undefined) end(state);
    });
    socket.once("error", () => end("away"));
    socket.once("close", () => end("away"));
  });
