// A service of the corpus as a process of its own: `plain-service.ts TARGET [NAME]`, the right one unless a name is given.

import { RIGHT_HABITS, startPlainService, WRONG_SERVICES } from "@toolplane/testkit";

const [target = "text", name] = process.argv.slice(2);
const { TOOLPLANE_URL: url = "", TOOLPLANE_TOKEN: token = "", TOOLPLANE_PROJECT: projectId = "" } = process.env;
const habits = WRONG_SERVICES.find((service) => service.name === name)?.habits ?? RIGHT_HABITS;

process.stderr.write(`serving ${target} as ${name ?? "the right service"}\n`);
const service = startPlainService(habits, { url, token, projectId, target });
process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
process.stderr.write(`${await service.exited}\n`);
process.exit(1);
