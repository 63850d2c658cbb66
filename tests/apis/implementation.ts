// One small implementation of the three documents, as strict as a real one: what does not fit is 400.

import type { Answerer, Asked } from "./api-world.ts";
import { answerJson } from "./api-world.ts";

const PNG = Buffer.from("89504e470d0a1a0a", "hex");

interface Item {
  readonly id: string;
  readonly name: string;
  readonly price?: number | null;
}

/** A multipart body as a map of names to contents. */
const readParts = ({ headers, body }: Asked): Record<string, string> => {
  const boundary = /boundary=(.+)$/u.exec(headers["content-type"] ?? "")?.[1] ?? "";
  return Object.fromEntries(
    body
      .split(`--${boundary}`)
      .map((part) => /name="([^"]+)"[\s\S]*?\r\n\r\n([\s\S]*)\r\n$/u.exec(part))
      .flatMap((found) => (found === null ? [] : [[found[1] ?? "", found[2] ?? ""]])),
  );
};

export const createImplementation = (token: string, key: string): Answerer => {
  const items = new Map<string, Item>();

  const shop = (asked: Asked, path: string, query: URLSearchParams): Answerer => {
    if (asked.headers.authorization !== `Bearer ${token}`) return answerJson({ message: "who are you?" }, 401);
    if (path === "/items" && asked.method === "GET") {
      const most = Number(query.get("filter[max_price]") ?? Number.POSITIVE_INFINITY);
      const found = [...items.values()].filter(({ price }) => (price ?? 0) <= most);
      return answerJson({ items: found, tags: query.get("tags")?.split(",") ?? [] });
    }
    if (path === "/items") {
      const item = { id: `i${items.size + 1}`, ...(JSON.parse(asked.body) as Omit<Item, "id">) };
      items.set(item.id, item);
      return answerJson(item, 201);
    }
    const id = path.slice("/items/".length);
    const item = items.get(id);
    if (item === undefined) return answerJson({ message: "no such item" }, 404);
    if (asked.method === "DELETE") items.delete(id);
    return asked.method === "DELETE" ? (_asked, response) => void response.writeHead(204).end() : answerJson(item);
  };

  const forms = (asked: Asked, path: string): Answerer => {
    if (asked.headers["x-api-key"] !== key) return answerJson({ message: "no key" }, 403);
    if (path === "/upload") return answerJson(readParts(asked));
    const form = new URLSearchParams(asked.body);
    return answerJson({ user: form.get("user"), roles: form.getAll("roles"), cookie: asked.headers.cookie ?? null });
  };

  const legacy = (asked: Asked, path: string, query: URLSearchParams): Answerer => {
    if (path === "/text" && asked.method === "POST") return answerJson([asked.body.length]);
    if (path === "/text")
      return (_asked, response) => void response.writeHead(200, { "content-type": "text/plain" }).end("plain words");
    if (path !== "/colors/;color=red;color=blue" || query.get("ids") !== "1|2") return answerJson({ path }, 400);
    return (_asked, response) => void response.writeHead(200, { "content-type": "image/png" }).end(PNG);
  };

  return (asked, response) => {
    const { pathname, searchParams } = new URL(asked.url, "http://here");
    const [, area = "", rest = ""] = /^\/(shop\/v1|forms|api\/legacy)(\/.*)$/u.exec(pathname) ?? [];
    const answers: Record<string, () => Answerer> = {
      "shop/v1": () => shop(asked, rest, searchParams),
      forms: () => forms(asked, rest),
      "api/legacy": () => legacy(asked, rest, searchParams),
    };
    (answers[area]?.() ?? answerJson({ pathname }, 404))(asked, response);
  };
};
