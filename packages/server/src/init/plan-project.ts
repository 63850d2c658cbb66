// What `toolplane init` writes, decided without touching the disk.

import { isToken } from "@toolplane/protocol";
import { WrongUsage } from "../cli/wrong-usage.ts";

const LANGUAGES = ["typescript", "python"] as const;
export type Language = (typeof LANGUAGES)[number];

export interface ProjectPlan {
  readonly name: string;
  readonly target: string;
  readonly language: Language;
  /** `registry`: npm looks for the packages where they are not published yet. */
  readonly source: "registry" | "tarballs" | "checkout";
  /** Package -> what npm installs: a version, the path of a tarball, or a folder of the checkout. */
  readonly packages: Readonly<Record<string, string>>;
  /** The command of the plane, for a shell. */
  readonly toolplane: string;
}

export interface ProjectAsked {
  /** The last part of the directory's path. */
  readonly folder: string;
  readonly language: string | undefined;
  readonly version: string;
  /** Paths of packed packages (`npm run pack`), if the project is to use them. */
  readonly tarballs: readonly string[];
  /** The path of the checkout this program runs from, if it does. */
  readonly checkout: string | undefined;
}

type Source = Pick<ProjectPlan, "source" | "packages" | "toolplane">;

/** What a project names itself; with tarballs also what these need, because npm finds them nowhere else. */
const DIRECT: ReadonlySet<string> = new Set(["sdk", "server"]);
const TARBALL = /(?:^|\/)toolplane-([a-z]+)-\d[^/]*\.tgz$/;

const direct = (wanted: (name: string) => string): Readonly<Record<string, string>> =>
  Object.fromEntries([...DIRECT].map((name) => [`@toolplane/${name}`, wanted(name)] as const));

const inTarballs = (tarballs: readonly string[]): Readonly<Record<string, string>> => {
  const found = tarballs.flatMap((path) => {
    const name = TARBALL.exec(path)?.[1];
    return name === undefined ? [] : [[`@toolplane/${name}`, `file:${path}`] as const];
  });
  const missing = [...DIRECT].find((name) => !found.some(([known]) => known === `@toolplane/${name}`));
  if (missing !== undefined) throw new WrongUsage(`--packages names a folder without toolplane-${missing}-*.tgz`);
  return Object.fromEntries(found);
};

const NPX = "npx toolplane";
const shellText = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

/** Tarballs that were named, else the checkout that runs: nothing of it has to be built or published. */
const sourceOf = ({ version, tarballs, checkout }: ProjectAsked): Source => {
  if (tarballs.length > 0) return { source: "tarballs", packages: inTarballs(tarballs), toolplane: NPX };
  if (checkout === undefined) return { source: "registry", packages: direct(() => version), toolplane: NPX };
  const packages = direct((name) => `file:${checkout}/packages/${name}`);
  return { source: "checkout", packages, toolplane: `node ${shellText(`${checkout}/bin/toolplane.mjs`)}` };
};

const languageOf = (given = "typescript"): Language => {
  const found = LANGUAGES.find((language) => language === given);
  if (found === undefined) throw new WrongUsage(`--language is ${LANGUAGES.join(" or ")}, not "${given}"`);
  return found;
};

export const planProject = (asked: ProjectAsked): ProjectPlan => {
  const name = asked.folder.toLowerCase().replace(/[^a-z0-9_-]+/g, "-");
  const target = name.replace(/^[-_]+|[-_]+$/g, "");
  if (!isToken(target)) throw new WrongUsage(`the folder's name becomes the project's: use letters and digits`);
  return { name: target, target, language: languageOf(asked.language), ...sourceOf(asked) };
};
