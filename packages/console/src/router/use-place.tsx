// The address bar as state: links change the place without loading the page again.

import { type AnchorHTMLAttributes, type MouseEvent, type ReactNode, useSyncExternalStore } from "react";
import { type Place, parsePlace, pathTo } from "./place.ts";

const MOVED = "toolplane:moved";

const listen = (changed: () => void): (() => void) => {
  window.addEventListener("popstate", changed);
  window.addEventListener(MOVED, changed);
  return () => {
    window.removeEventListener("popstate", changed);
    window.removeEventListener(MOVED, changed);
  };
};

export const useHere = (): { readonly place: Place; readonly query: URLSearchParams } => {
  const path = useSyncExternalStore(listen, () => window.location.pathname);
  const search = useSyncExternalStore(listen, () => window.location.search);
  return { place: parsePlace(path), query: new URLSearchParams(search) };
};

export const goTo = (place: Place | string, how: "push" | "replace" = "push"): void => {
  const address = typeof place === "string" ? place : pathTo(place);
  if (how === "push") window.history.pushState(null, "", address);
  else window.history.replaceState(null, "", address);
  window.dispatchEvent(new Event(MOVED));
  if (how === "push") window.scrollTo(0, 0);
};

/** Filters live in the address, so that a filtered list can be sent to somebody. */
export const setQuery = (changes: Readonly<Record<string, string>>): void => {
  const query = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  goTo(`${window.location.pathname}${text === "" ? "" : `?${text}`}`, "replace");
};

/** Whether keys belong to what a person writes. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  readonly to: Place;
  readonly children: ReactNode;
}

const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

export const Link = ({ to, children, ...rest }: LinkProps): ReactNode => (
  <a
    {...rest}
    href={pathTo(to)}
    onClick={(event) => {
      if (!isPlainClick(event)) return;
      event.preventDefault();
      goTo(to);
    }}
  >
    {children}
  </a>
);
