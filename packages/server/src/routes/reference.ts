// The description of the API: as an OpenAPI document, and as a page for people. Both are made once, when they are first asked for.

import { z } from "zod";
import { anyObject } from "../http/answers.ts";
import { OTHER_ROUTES, PUBLIC_ROUTES } from "../http/public-routes.ts";
import { EVERYBODY, type Route, route } from "../http/route.ts";
import { DOCS_POLICY, docsPage } from "../openapi/docs-page.ts";
import { type OpenApiDocument, openApiDocument } from "../openapi/document.ts";
import { readVersion } from "../up/version.ts";

export const describeRoutes = (routes: readonly Route[]): OpenApiDocument =>
  openApiDocument([...PUBLIC_ROUTES, ...OTHER_ROUTES, ...routes], readVersion());

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

export const referenceRoutes = (routes: () => readonly Route[]): readonly Route[] => {
  const document = once(() => describeRoutes(routes()));
  const text = once(() => JSON.stringify(document()));
  const page = once(() => docsPage(document()));
  return [
    route({
      method: "GET",
      path: "/openapi.json",
      roles: EVERYBODY,
      gives: "self",
      summary: "This description, as an OpenAPI 3.1 document.",
      answers: { 200: anyObject },
      handle: ({ context }) => context.body(text(), 200, { "Content-Type": "application/json" }),
    }),
    route({
      method: "GET",
      path: "/docs",
      roles: EVERYBODY,
      gives: "self",
      summary: "This description, as a page for people.",
      answers: { 200: { "text/html": z.string() } },
      handle: ({ context }) =>
        context.body(page(), 200, {
          "Content-Type": "text/html; charset=utf-8",
          "Content-Security-Policy": DOCS_POLICY,
          "Referrer-Policy": "no-referrer",
        }),
    }),
  ];
};
