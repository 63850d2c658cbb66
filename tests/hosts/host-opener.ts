// Opens hosts for a test file: each is closed after its test, and at the end of the file nothing of them is left.

import { createToolHost, type HostOptions, type HostPorts, type ToolHost } from "@toolplane/bridges";
import { findLeftovers, findLeftoversSince } from "@toolplane/testkit";
import { afterAll, afterEach, expect } from "vitest";

/** Called once, at the top of the file. */
export const createHostOpener = (): ((options: HostOptions, ports?: HostPorts) => ToolHost) => {
  const open: ToolHost[] = [];
  const before = findLeftovers();
  afterEach(async () => {
    await Promise.all(open.splice(0).map((host) => host.close()));
  });
  afterAll(() => {
    expect(findLeftoversSince(before)).toEqual([]);
  });
  return (options, ports) => {
    const host = createToolHost(options, ports);
    open.push(host);
    return host;
  };
};
