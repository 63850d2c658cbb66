import { isToolplaneError } from "@toolplane/protocol";
import { describe, expect, test, vi } from "vitest";
import { allow, failureOf, startServer } from "../../test/servers.ts";
import { createEgress } from "./egress.ts";
import { createResolveHost, type NameSources, type ResolveHost } from "./resolve-host.ts";

const never = (): Promise<never> => new Promise<never>(() => undefined);
const unknown = (code = "ENOTFOUND") => Object.assign(new Error(code), { code });

/** A resolver whose lookups a test ends by hand. */
const createScript = () => {
  const asked: string[] = [];
  const open = new Map<string, (addresses: readonly string[]) => void>();
  const resolve: ResolveHost = (host) => {
    asked.push(host);
    return new Promise((done) => open.set(host, done));
  };
  return { asked, resolve, answer: (host: string) => open.get(host)?.(["192.0.2.1"]) };
};

const resolverOf = (sources: Partial<NameSources>): ResolveHost =>
  createResolveHost({
    hosts: async () => "",
    dns: async () => {
      throw unknown();
    },
    system: async () => {
      throw unknown();
    },
    limitMs: 60_000,
    ...sources,
  });

describe("[SEC-6-G1] a name that is never answered", () => {
  test("takes no thread, and other names are found meanwhile", async () => {
    const system = vi.fn(never);
    const dns: NameSources["dns"] = (host) => (host === "good.test" ? Promise.resolve(["192.0.2.7"]) : never());
    const resolve = resolverOf({ dns, system, limitMs: 50 });
    const silent = Array.from({ length: 300 }, (_, index) => failureOf(resolve(`a${index}.slow.test`)));
    expect(await resolve("good.test")).toEqual(["192.0.2.7"]);
    // They end within the test: a lookup that is left behind fails in another one.
    const failures = await Promise.all(silent);
    expect(failures.filter((failure) => isToolplaneError(failure))).toHaveLength(300);
    expect(system).not.toHaveBeenCalled();
  });

  test("fails after the limit, its question is stopped, and the error says that nothing was sent", async () => {
    let stopped = false;
    const dns: NameSources["dns"] = (_host, signal) => {
      signal.addEventListener("abort", () => {
        stopped = true;
      });
      return never();
    };
    const resolve = resolverOf({ dns, limitMs: 5 });
    const [first, second] = await Promise.all([failureOf(resolve("a.slow.test")), failureOf(resolve("a.slow.test"))]);
    expect(first).toMatchObject({
      code: "upstream_unavailable",
      message: "no server answered within 0.005 seconds which address a.slow.test has",
      detail: { host: "a.slow.test", sent: false },
    });
    expect(second).toBe(first);
    expect(stopped).toBe(true);
  });

  test("is not asked again of the system when DNS was silent", async () => {
    const system = vi.fn(never);
    const dns = async () => {
      throw unknown("ETIMEOUT");
    };
    expect(await failureOf(resolverOf({ dns, system })("a.slow.test"))).toMatchObject({ code: "ETIMEOUT" });
    expect(system).not.toHaveBeenCalled();
  });

  test("holds two of the system's threads at most, counted until it gives up, and one for the same name", async () => {
    const script = createScript();
    const resolve = resolverOf({ system: script.resolve, limitMs: 5 });
    const failures = await Promise.all(["one", "two", "three", "one"].map((host) => failureOf(resolve(host))));
    expect(failures.every((failure) => failure instanceof Error)).toBe(true);
    // The requests have failed; the threads are still held.
    expect(script.asked).toEqual(["one", "two"]);
    await failureOf(resolve("one"));
    await failureOf(resolve("four"));
    expect(script.asked).toEqual(["one", "two"]);

    script.answer("one");
    await failureOf(resolve("five"));
    // Those that failed meanwhile do not come after all.
    expect(script.asked).toEqual(["one", "two", "five"]);
  });

  test("leaves a request of another name through the same policy alone", async () => {
    const server = await startServer((_, answer) => answer.end("here"));
    const origin = `http://good.test:${server.port}`;
    const dns: NameSources["dns"] = (host) => (host === "good.test" ? Promise.resolve(["127.0.0.1"]) : never());
    const egress = createEgress({ hosts: "any", allow: allow(origin), resolve: resolverOf({ dns, system: never }) });
    const slow = Array.from({ length: 30 }, (_, i) => failureOf(egress.fetch(`https://a${i}.slow.test`)));
    expect(await (await egress.fetch(origin)).text()).toBe("here");
    await egress.close();
    await Promise.all(slow);
  });
});

describe("[SEC-6-G2] names that DNS does not know keep working", () => {
  test.each<[string, string, Partial<NameSources>]>([
    ["the hosts file comes before DNS", "api.internal.test", { dns: async () => ["198.51.100.1"] }],
    ["the spelling of the hosts file does not matter", "mixed.test", {}],
  ])("%s", async (_what, host, sources) => {
    const hosts = async () =>
      "# api.internal.test\n192.0.2.1\tother api.internal.test # ours\n192.0.2.1 Mixed.Test\r\n";
    expect(await resolverOf({ hosts, ...sources })(host)).toEqual(["192.0.2.1"]);
  });

  test.each(["ENOTFOUND", "ENODATA", "ECONNREFUSED"])("%s is followed by the system's resolver", async (code) => {
    const dns = async () => {
      throw unknown(code);
    };
    expect(await resolverOf({ dns, system: async () => ["10.0.0.9"] })("tools.default")).toEqual(["10.0.0.9"]);
  });

  test.each(["tools", "printer.local", "app.localhost"])("%s is the system's alone", async (host) => {
    const dns = vi.fn(never);
    const hosts = async () => {
      throw unknown("ENOENT");
    };
    expect(await resolverOf({ hosts, dns, system: async () => ["10.0.0.9"] })(host)).toEqual(["10.0.0.9"]);
    expect(dns).not.toHaveBeenCalled();
  });
});
