// One nats-server for many runs at once: each in an account of its own, which is a server of its own as far as it can tell.

import { startNats, type TestNats } from "@toolplane/testkit";

export interface NatsAccounts extends AsyncDisposable {
  readonly server: TestNats;
  /** The address of an account nobody has used. */
  next(): string;
}

export const startNatsAccounts = async (count: number): Promise<NatsAccounts> => {
  const names = Array.from({ length: count }, (_, index) => `a${index}`);
  const accounts = names.map((name) => `${name}: { jetstream: enabled, users: [{ user: ${name}, password: pw }] }`);
  // Many connect at once, and a busy machine takes its time.
  const patience = "authorization { timeout: 30 }";
  const server = await startNats({ config: `${patience}\naccounts {\n${accounts.join("\n")}\n}` });
  return {
    server,
    next: () => `nats://${names.shift() ?? "nobody"}:pw@127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(),
  };
};
