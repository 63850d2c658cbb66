import { expect, test } from "vitest";
import { checkRoute, type Route } from "./route.ts";

const made = (more: Partial<Route>): Route =>
  ({ method: "GET", path: "/projects/:project/turns/:turn", roles: ["admin"], gives: "turn", ...more }) as Route;

test("[SEC-route-gives] a route that says what it gives, to those who may have it, is taken", () => {
  expect(() => checkRoute(made({ roles: ["admin", "operator", "agent", "viewer"] }))).not.toThrow();
});

const silent = { ...made({}), gives: undefined } as unknown as Route;

test.each<[string, Route, string]>([
  ["says nothing", silent, "does not say what it gives"],
  ["gives everybody's work to agents", made({ gives: "work", roles: ["agent"] }), "gives work to agents"],
  ["gives a service's calls to agents", made({ gives: "served", roles: ["agent"] }), "gives served to agents"],
  ["gives one thing to tools", made({ roles: ["tool"] }), "gives turn to tool services"],
  ["gives lists to tools", made({ gives: "own", roles: ["tool"] }), "gives own to tool services"],
  ["names another thing", made({ gives: "box" }), "names no box in its path"],
])("[SEC-route-gives] a route that %s is refused", (_what, route, message) => {
  expect(() => checkRoute(route)).toThrow(message);
});
