// @toolplane/server/reference: the description of the API and the reference pages that are made from it.

import { COMMANDS } from "./cli/commands.ts";
import { configSchema } from "./config/config-file.ts";
import { OTHER_ROUTES, PUBLIC_ROUTES } from "./http/public-routes.ts";
import { commandsMarkdown, configMarkdown, routesMarkdown } from "./reference/tables.ts";
import { routes } from "./routes/index.ts";

export { problemBody } from "./http/answers.ts";
export { describeRoutes } from "./routes/reference.ts";

/** By the name of the page and of the part in it. */
export const generatedParts = (): Readonly<Record<string, Readonly<Record<string, string>>>> => ({
  "http-api.md": { routes: routesMarkdown([...PUBLIC_ROUTES, ...OTHER_ROUTES, ...routes]) },
  "cli.md": { commands: commandsMarkdown(COMMANDS) },
  "configuration.md": { keys: configMarkdown(configSchema) },
});
