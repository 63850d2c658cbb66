// Between a client and a server: passes on what the test lets through, and is cut when the test wants it.

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpRelay extends Disposable {
  readonly address: string;
}

/** On another address of this machine than the server's own. */
export const startRelayTo = async (port: number, passes: (fromClient: string) => boolean): Promise<TcpRelay> => {
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    for (const socket of [client, server]) sockets.add(socket.on("error", () => {}));
    server.pipe(client);
    client.on("data", (chunk) => {
      if (passes(chunk.toString("latin1"))) server.write(chunk);
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.2", resolve));
  return {
    address: `127.0.0.2:${(relay.address() as AddressInfo).port}`,
    [Symbol.dispose]() {
      relay.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};
