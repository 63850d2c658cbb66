// A caller with the client of the SDK: calls of one moment travel together and are answered one by one.

import type { Caller } from "../programs/caller.ts";
import type { ProgramConfig } from "../programs/conversation.ts";
import { ARGUMENTS, checkEcho, PROJECT, TOOL } from "./tool.ts";

/** By a name that the compiler does not look up: a checkout from before the client has no such entry. */
const CLIENT = "@toolplane/sdk/client";

interface Client {
  call(tool: string, args: object, options: { readonly wait: number }): Promise<unknown>;
  close(): Promise<void>;
}

interface ClientModule {
  connect(options: { readonly url: string; readonly token: string; readonly project: string }): Client;
}

export const openCaller = async ({ url = "", token = "" }: ProgramConfig): Promise<Caller> => {
  const { connect } = (await import(CLIENT)) as ClientModule;
  const client = connect({ url, token, project: PROJECT });
  return {
    async call() {
      checkEcho(await client.call(TOOL, ARGUMENTS, { wait: 60 }));
    },
    close: () => client.close(),
  };
};
