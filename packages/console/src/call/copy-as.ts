// The same call again, from a terminal or a program. Pure.

export interface CopiedCall {
  readonly url: string;
  readonly project: string;
  readonly toolName: string;
  readonly arguments: unknown;
}

/** One word of a POSIX shell, whatever is in it. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const json = (value: unknown): string => JSON.stringify(value) ?? "null";

export const asCurl = ({ url, project, toolName, arguments: given }: CopiedCall): string =>
  [
    `curl -s ${shellWord(`${url}/projects/${encodeURIComponent(project)}/calls`)}`,
    `-H "authorization: Bearer $TOOLPLANE_TOKEN" -H 'content-type: application/json'`,
    `-d ${shellWord(json({ tool_name: toolName, arguments: given, wait_seconds: 30 }))}`,
  ].join(" \\\n  ");

export const asCommand = ({ project, toolName, arguments: given }: CopiedCall): string =>
  `toolplane call ${shellWord(toolName)} ${shellWord(json(given))} --project ${shellWord(project)}`;

export const asTypeScript = ({ url, project, toolName, arguments: given }: CopiedCall): string =>
  [
    'import { connect } from "@toolplane/sdk/client";',
    "",
    `const plane = connect({ url: ${json(url)}, project: ${json(project)} }); // TOOLPLANE_TOKEN`,
    `const result = await plane.call(${json(toolName)}, ${JSON.stringify(given, null, 2) ?? "null"});`,
  ].join("\n");
