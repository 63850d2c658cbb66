// Dark or light: as the system says, until the person chooses. The choice is kept in this browser.

import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";

export type Theme = "dark" | "light";
const KEY = "toolplane-theme";

const systemTheme = (): Theme => (window.matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");

/** Storage may be refused by the browser: then the choice lasts as long as the page. */
const chosenTheme = (): Theme | undefined => {
  try {
    const kept = window.localStorage.getItem(KEY);
    return kept === "dark" || kept === "light" ? kept : undefined;
  } catch {
    return undefined;
  }
};

const keep = (theme: Theme): void => {
  try {
    window.localStorage.setItem(KEY, theme);
  } catch {
    // The page still changes.
  }
};

const Context = createContext<{ readonly theme: Theme; readonly toggle: () => void }>({
  theme: "dark",
  toggle: () => undefined,
});

export const ThemeProvider = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const [chosen, setChosen] = useState(chosenTheme);
  const [system, setSystem] = useState(systemTheme);
  useEffect(() => {
    const query = window.matchMedia("(prefers-color-scheme: light)");
    const look = (): void => setSystem(systemTheme());
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  const theme = chosen ?? system;
  // Before anything is drawn with it: charts read the colours of the page.
  document.documentElement.dataset.theme = theme;
  const value = useMemo(
    () => ({
      theme,
      toggle: () => {
        const next = theme === "dark" ? "light" : "dark";
        keep(next);
        setChosen(next);
      },
    }),
    [theme],
  );
  return <Context value={value}>{children}</Context>;
};

export const useTheme = () => useContext(Context);
