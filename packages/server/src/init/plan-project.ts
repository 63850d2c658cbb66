// What `toolplane init` writes, decided without touching the disk.

import { isToken } from "@toolplane/protocol";
import { WrongUsage } from "../cli/wrong-usage.ts";

const LANGUAGES = ["typescript", "python"] as const;
export type Language = (typeof LANGUAGES)[number];

export interface ProjectPlan {
  readonly name: string;
  readonly target: string;
  readonly language: Language;
  /** Package -> what npm installs: a version, or the path of a tarball. */
  readonly packages: Readonly<Record<string, string>>;
}

export interface ProjectAsked {
  /** The last part of the directory's path. */
  readonly folder: string;
  readonly language: string | undefined;
  readonly version: string;
  /** Paths of packed packages (`npm run pack`), if the project is to use them. */
  readonly tarballs: readonly string[];
}

/** What a project names itself; with tarballs also what these need, because npm finds them nowhere else. */
const DIRECT: ReadonlySet<string> = new Set(["sdk", "server"]);
const TARBALL = /(?:^|\/)toolplane-([a-z]+)-\d[^/]*\.tgz$/;

const packagesOf = ({ version, tarballs }: ProjectAsked): Readonly<Record<string, string>> => {
  if (tarballs.length === 0)
    return Object.fromEntries([...DIRECT].map((name) => [`@toolplane/${name}`, version] as const));
  const found = tarballs.flatMap((path) => {
    const name = TARBALL.exec(path)?.[1];
    return name === undefined ? [] : [[`@toolplane/${name}`, `file:${path}`] as const];
  });
  const missing = [...DIRECT].find((name) => !found.some(([known]) => known === `@toolplane/${name}`));
  if (missing !== undefined) throw new WrongUsage(`--packages names a folder without toolplane-${missing}-*.tgz`);
  return Object.fromEntries(found);
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
  return { name: target, target, language: languageOf(asked.language), packages: packagesOf(asked) };
};
