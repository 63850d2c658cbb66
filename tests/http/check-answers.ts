// Every answer of the table's routes is held against the schema that its route lists: a field that is missing, has another type or
// is not described is a fault of the code or of the description.

import type { Route } from "@toolplane/server/internal";
import { problemBody } from "@toolplane/server/reference";
import { z } from "zod";

export interface AnswerChecks {
  /** The routes, each watching its own answers. */
  readonly routes: readonly Route[];
  /** Throws what was found since the last look. */
  throwFaults(): void;
  /** A refusal has the one shape of all refusals. */
  checkProblem(path: string, response: Response): Promise<void>;
}

const JSON_TYPE = "application/json";
const MCP = "/mcp/";

const schemaOf = ({ answers }: Route, status: number, type: string): z.ZodType | undefined => {
  const answer = answers[status as keyof typeof answers];
  if (answer === undefined) return undefined;
  if (answer instanceof z.ZodType) return type === JSON_TYPE ? answer : undefined;
  return answer[type];
};

const isMcp = (path: string): boolean => path.startsWith("/mcp/");

const typeOf = (response: Response): string => (response.headers.get("content-type") ?? "").split(";")[0] ?? "";

/** What is wrong with an answer; undefined when nothing is. */
export const faultOf = async (route: Route, response: Response): Promise<string | undefined> => {
  // Refusals of MCP are JSON-RPC; the suite of that protocol checks them (tests/mcp).
  if (route.path.startsWith(MCP)) return undefined;
  const named = `${route.method} ${route.path} ${response.status}`;
  const type = typeOf(response);
  const answer = route.answers[response.status as keyof typeof route.answers];
  const isBare = answer !== undefined && !(answer instanceof z.ZodType) && Object.keys(answer).length === 0;
  // MCP refuses in the words of its own protocol.
  if (isBare || (isMcp(route.path) && response.status >= 400)) return undefined;
  const schema = schemaOf(route, response.status, type);
  if (schema === undefined) return `${named}: ${type} is not described`;
  // Streams are read by their readers; their lines are checked where a test looks at them.
  if (type !== JSON_TYPE) return undefined;
  const text = await response.clone().text();
  // HEAD.
  if (text === "") return undefined;
  const checked = schema.safeParse(JSON.parse(text));
  return checked.success ? undefined : `${named}: ${JSON.stringify(checked.error.issues).slice(0, 1_000)}`;
};

export const checkAnswers = (routes: readonly Route[]): AnswerChecks => {
  const faults: string[] = [];
  const watched = (route: Route): Route => ({
    ...route,
    async handle(call) {
      const response = await route.handle(call);
      const fault = await faultOf(route, response);
      if (fault !== undefined) faults.push(fault);
      return response;
    },
  });
  return {
    routes: routes.map(watched),
    throwFaults() {
      const [fault] = faults.splice(0);
      if (fault !== undefined) throw new Error(`an answer is not as described: ${fault}`);
    },
    async checkProblem(path, response) {
      if (isMcp(path) || response.status < 400 || typeOf(response) !== JSON_TYPE) return;
      const text = await response.clone().text();
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      const isRpc = typeof body === "object" && body !== null && "jsonrpc" in body;
      if (body !== undefined && !isRpc) problemBody.parse(body);
    },
  };
};
