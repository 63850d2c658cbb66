// `toolplane console` and `toolplane sessions ...`: logging browsers in and out. The link is printed alone on stdout, so that a
// shell can open it; remarks go to stderr.

import { pathOf } from "@toolplane/sdk/client";
import { parseText, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { listCommand } from "../list-command.ts";

const link: Command = {
  name: "console",
  usage: "",
  least: 0,
  most: 0,
  options: [],
  summary: "print a link that logs a browser in to the console, once",
  async run({ client, output }) {
    const made = await client.request({ method: "POST", path: "/login-links" });
    const address = `${client.url}${parseText(made, "path")}`;
    if (output.json) {
      output.data({ url: address, expires_at: made.expires_at });
      return EXIT.ok;
    }
    output.line(address);
    output.note(
      `it works once, until ${shortTime(made, "expires_at")}; the browser that opens it acts with the rights of your token`,
    );
    return EXIT.ok;
  },
};

const list = listCommand({
  name: "sessions list",
  options: ["limit", "cursor"],
  summary: "list the browsers that are logged in",
  path: () => "/sessions",
  empty: () => "no browser is logged in",
  columns: [
    { title: "SESSION", value: (session) => textOf(session, "session_id") },
    { title: "ROLE", value: (session) => textOf(session, "role") },
    { title: "PROJECT", value: (session) => textOf(session, "project_id") },
    { title: "TOKEN", value: (session) => textOf(session, "token_id") },
    { title: "SINCE", value: (session) => shortTime(session, "created_at") },
    { title: "SEEN", value: (session) => shortTime(session, "seen_at") },
    { title: "EXPIRES", value: (session) => shortTime(session, "expires_at") },
    { title: "BROWSER", value: (session) => textOf(session, "browser") },
  ],
});

const revoke: Command = {
  name: "sessions revoke",
  usage: "ID",
  least: 1,
  most: 1,
  options: [],
  summary: "log a browser out",
  async run({ client, args, output }) {
    const id = args[0] ?? "";
    await client.request({ method: "DELETE", path: pathOf("sessions", id) });
    if (output.json) output.data({ session_id: id, revoked: true });
    else output.line(`revoked ${id}`);
    return EXIT.ok;
  },
};

export const consoleCommands: readonly Command[] = [link, list, revoke];
