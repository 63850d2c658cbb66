// The parameters of paths: what each name stands for. A path with a name that is not here is a programming error.

import { UsageError } from "@toolplane/protocol";

const PATH_PARAMS: Readonly<Record<string, string>> = {
  project: "A project's id.",
  call: "A call's id (`tool_call_id`).",
  turn: "A turn's id (`agent_turn_id`).",
  card: "A card's id.",
  box: "A box's id.",
  tool: "A tool's name.",
  profile: "A profile's name; its case does not count.",
  agent: "An agent's id.",
  target: "A target: the name under which a tool service serves.",
  token: "A token's id (`token_id`), not its secret.",
  letter: "A dead letter's id.",
  trace: "A trace's id: 32 hexadecimal digits.",
  batch: "A batch's id.",
  session: "A browser session's id.",
  webhook: "A webhook's id.",
  delivery: "A delivery's id.",
};

export interface PathParam {
  readonly name: string;
  readonly description: string;
}

/** In the order of the path. */
export const pathParams = (path: string): readonly PathParam[] =>
  path
    .split("/")
    .filter((part) => part.startsWith(":"))
    .map((part) => {
      const name = part.slice(1);
      const description = PATH_PARAMS[name];
      if (description === undefined) throw new UsageError(`${path} has the parameter ${name}, which is not described`);
      return { name, description };
    });

/** As OpenAPI writes it: `/projects/{project}`. */
export const templateOf = (path: string): string => path.replaceAll(/:([a-z]+)/g, "{$1}");
