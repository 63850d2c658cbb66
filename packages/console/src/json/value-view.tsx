// A value of a tool: as a tree or as plain text, and a way to copy it.

import { type ReactNode, useId, useState } from "react";
import { CopyButton } from "../parts/copy-button.tsx";
import { ScrollText } from "../parts/scroll-text.tsx";
import { kindOfJson, plainJson } from "./json-page.ts";
import { JsonTree, LongText } from "./json-tree.tsx";

interface ValueViewProps {
  readonly label: string;
  readonly value: unknown;
}

export const ValueView = ({ label, value }: ValueViewProps): ReactNode => {
  const kind = kindOfJson(value);
  const hasTree = kind === "object" || kind === "array";
  const [asText, setAsText] = useState(!hasTree);
  const id = useId();
  return (
    <figure className="value" aria-labelledby={id}>
      <div className="value-head">
        <span id={id} className="value-label">
          {label}
        </span>
        {hasTree && (
          <span className="switch">
            <button type="button" aria-pressed={!asText} onClick={() => setAsText(false)}>
              Tree
            </button>
            <button type="button" aria-pressed={asText} onClick={() => setAsText(true)}>
              Text
            </button>
          </span>
        )}
        <CopyButton text={plainJson(value)} label="Copy" />
      </div>
      <div className="value-body">
        {asText ? (
          <ScrollText>
            <LongText text={plainJson(value)} />
          </ScrollText>
        ) : (
          <JsonTree value={value} />
        )}
      </div>
    </figure>
  );
};
