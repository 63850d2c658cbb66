// Where a person is in the console, and its address. Every place has one: addresses can be sent to other people. Pure.

export const PROJECT_PAGES = [
  "now",
  "turns",
  "tools",
  "agents",
  "approvals",
  "dead-letters",
  "services",
  "audit",
] as const;
export type ProjectPage = (typeof PROJECT_PAGES)[number];

export type Place =
  | { readonly kind: "home" }
  | { readonly kind: "projects" }
  | { readonly kind: "tokens" }
  | { readonly kind: "page"; readonly project: string; readonly page: ProjectPage }
  | { readonly kind: "call"; readonly project: string; readonly id: string }
  | { readonly kind: "turn"; readonly project: string; readonly id: string }
  | { readonly kind: "trace"; readonly project: string; readonly id: string }
  | { readonly kind: "tool"; readonly project: string; readonly id: string }
  | { readonly kind: "card"; readonly project: string; readonly id: string }
  | { readonly kind: "agent"; readonly project: string; readonly id: string }
  | { readonly kind: "lost"; readonly path: string };

const FOLDERS = {
  call: "calls",
  turn: "turns",
  trace: "traces",
  tool: "tools",
  card: "cards",
  agent: "agents",
} as const;
type Thing = keyof typeof FOLDERS;

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export const parsePlace = (path: string): Place => {
  const parts = path.split("/").filter(Boolean).map(decode);
  const [first, project, folder, id, ...rest] = parts;
  if (first === undefined) return { kind: "home" };
  if (first === "projects-list" && project === undefined) return { kind: "projects" };
  if (first === "access" && project === undefined) return { kind: "tokens" };
  if (first !== "p" || project === undefined || rest.length > 0) return { kind: "lost", path };
  if (id === undefined) {
    const page = PROJECT_PAGES.find((name) => name === (folder ?? "now"));
    return page === undefined ? { kind: "lost", path } : { kind: "page", project, page };
  }
  const thing = (Object.keys(FOLDERS) as Thing[]).find((name) => FOLDERS[name] === folder);
  return thing === undefined ? { kind: "lost", path } : { kind: thing, project, id };
};

export const pathTo = (place: Place): string => {
  const inProject = (project: string, ...more: readonly string[]): string =>
    `/p/${[project, ...more].map(encodeURIComponent).join("/")}`;
  switch (place.kind) {
    case "home":
      return "/";
    case "projects":
      return "/projects-list";
    case "tokens":
      return "/access";
    case "page":
      return place.page === "now" ? inProject(place.project) : inProject(place.project, place.page);
    case "lost":
      return place.path;
    default:
      return inProject(place.project, FOLDERS[place.kind], place.id);
  }
};

export const projectOf = (place: Place): string | undefined => ("project" in place ? place.project : undefined);
