// `toolplane token ...`. A new token is printed alone on stdout, so that a shell can read it; remarks go to stderr. It is shown
// once: the server keeps only its hash.

import type { Role } from "@toolplane/engine";
import { type Body, pathOf } from "@toolplane/sdk/client";
import { parseText, shortTime, textOf } from "../body.ts";
import type { Command } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { EXIT } from "../exit-code.ts";
import { splitList } from "../flag-values.ts";
import { listCommand } from "../list-command.ts";
import { WrongUsage } from "../wrong-usage.ts";

// Only the type is the engine's: a command that asks over HTTP does not load the engine.
const KNOWN: Readonly<Record<Role, true>> = { admin: true, operator: true, agent: true, tool: true, viewer: true };

const targetsOf = (token: Body): string | null =>
  Array.isArray(token.targets) && token.targets.length > 0 ? token.targets.join(",") : null;

const create: Command = {
  name: "token create",
  usage: "--role ROLE",
  least: 0,
  most: 0,
  options: ["role", "project", "actor", "targets", "ttl", "label"],
  summary: "make a token and print it, once",
  async run({ client, flags, output, project }) {
    const { role } = flags;
    if (role === undefined || !Object.hasOwn(KNOWN, role))
      throw new WrongUsage(`--role takes one of ${Object.keys(KNOWN).join(", ")}`, "token create");
    if (role === "tool" && splitList(flags.targets ?? "").length === 0)
      throw new WrongUsage("--role tool needs --targets NAME: the targets that the service serves", "token create");
    const body = {
      role,
      // An administrator's token reaches every project unless one is named; all others belong to one.
      ...(role === "admin" && flags.project === undefined ? {} : { project_id: project }),
      ...(flags.actor === undefined ? {} : { actor: flags.actor }),
      ...(flags.targets === undefined ? {} : { targets: splitList(flags.targets) }),
      ...(flags.ttl === undefined ? {} : { ttl_seconds: parseDuration(flags.ttl, "--ttl") / 1000 }),
      ...(flags.label === undefined ? {} : { label: flags.label }),
    };
    const token = await client.request({ method: "POST", path: "/tokens", body });
    if (output.json) {
      output.data(token);
      return EXIT.ok;
    }
    output.line(parseText(token, "token"));
    const until = shortTime(token, "expires_at");
    const reach = textOf(token, "project_id");
    output.note(
      `token ${parseText(token, "token_id")}: role ${role}, ${reach === undefined ? "every project" : `project ${reach}`}, ${until === null ? "no end" : `until ${until}`}; it is not shown again`,
    );
    return EXIT.ok;
  },
};

const list = listCommand({
  name: "token list",
  options: ["limit", "cursor"],
  summary: "list tokens, without their secrets",
  path: () => "/tokens",
  empty: () => "there are no tokens",
  columns: [
    { title: "TOKEN", value: (token) => textOf(token, "token_id") },
    { title: "ROLE", value: (token) => textOf(token, "role") },
    { title: "PROJECT", value: (token) => textOf(token, "project_id") },
    { title: "ACTOR", value: (token) => textOf(token, "actor") },
    { title: "TARGETS", value: targetsOf },
    { title: "EXPIRES", value: (token) => shortTime(token, "expires_at") },
    { title: "REVOKED", value: (token) => shortTime(token, "revoked_at") },
    { title: "LABEL", value: (token) => textOf(token, "label") },
  ],
});

const revoke: Command = {
  name: "token revoke",
  usage: "ID",
  least: 1,
  most: 1,
  options: [],
  summary: "make a token worthless",
  async run({ client, args, output }) {
    const given = args[0] ?? "";
    // A whole token may be given instead of an id: the id is its middle part.
    const id = given.startsWith("tp_") ? (given.split("_")[1] ?? given) : given;
    await client.request({ method: "DELETE", path: pathOf("tokens", id) });
    if (output.json) output.data({ token_id: id, revoked: true });
    else output.line(`revoked ${id}`);
    return EXIT.ok;
  },
};

export const tokenCommands: readonly Command[] = [create, list, revoke];
