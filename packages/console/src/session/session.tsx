// Who is logged in. The secret is never kept by the page: the server holds the session in a cookie that scripts cannot read.

import { createContext, useContext } from "react";
import { request } from "../api/request.ts";

/** In the order in which forms offer them. */
export const ROLES = ["operator", "viewer", "agent", "tool", "admin"] as const;
export type Role = (typeof ROLES)[number];

export interface Who {
  readonly role: Role;
  readonly project: string | null;
  readonly actor: string | null;
  readonly projects: readonly { readonly project_id: string }[];
}

export const askWho = (): Promise<Who> => request<Who>("/whoami");

export const logIn = (proof: { readonly code: string } | { readonly token: string }): Promise<Who> =>
  request<Who>("/session", { method: "POST", body: proof });

export const logOut = (): Promise<void> => request<void>("/session", { method: "DELETE" });

/** The code of the link that `up` prints: it stands in the fragment, which browsers do not send. */
export const codeIn = (fragment: string): string | undefined => /^#login=([^&]+)/.exec(fragment)?.[1];

export interface Rights {
  /** Make calls, start turns, cancel and stop. */
  readonly canCall: boolean;
  /** Approve, retry, replay, accept, pause. */
  readonly canOperate: boolean;
  readonly isAdmin: boolean;
}

export const rightsOf = (role: Role): Rights => ({
  canCall: role === "admin" || role === "operator" || role === "agent",
  canOperate: role === "admin" || role === "operator",
  isAdmin: role === "admin",
});

interface Session {
  readonly who: Who;
  readonly rights: Rights;
  readonly leave: () => void;
  /** Asks again who is logged in: what may be seen has changed. */
  readonly refresh: () => Promise<void>;
}

export const SessionContext = createContext<Session | undefined>(undefined);

const NOBODY: Session = {
  who: { role: "viewer", project: null, actor: null, projects: [] },
  rights: rightsOf("viewer"),
  leave: () => undefined,
  refresh: () => Promise.resolve(),
};

export const useSession = (): Session => useContext(SessionContext) ?? NOBODY;
