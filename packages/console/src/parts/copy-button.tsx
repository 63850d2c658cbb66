// Copies a text and says so.

import { type ReactNode, useEffect, useState } from "react";
import { Button } from "./button.tsx";

const SHOWN_MS = 1_500;

interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
}

export const CopyButton = ({ text, label }: CopyButtonProps): ReactNode => {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (said === "") return;
    const timer = setTimeout(() => setSaid(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = (): void => {
    // Browsers offer the clipboard only to pages of this machine or over https.
    const done = navigator.clipboard?.writeText(text) ?? Promise.reject(new DOMException("no clipboard"));
    done.then(
      () => setSaid("Copied"),
      () => setSaid("The browser does not allow copying"),
    );
  };
  return (
    <Button kind="quiet" onClick={copy}>
      <span aria-live="polite">{said === "" ? label : said}</span>
    </Button>
  );
};
