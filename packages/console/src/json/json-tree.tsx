// A JSON value as a tree that opens level by level. A large value costs as much as what is open.

import { type ReactNode, useState } from "react";
import { Text } from "../text/text.tsx";
import { visibleText } from "../text/visible-text.ts";
import {
  CHARS_PER_PAGE,
  CHILDREN_PER_PAGE,
  countOf,
  isOpenAtFirst,
  kindOfJson,
  pageOf,
  summaryOf,
} from "./json-page.ts";

const KEY_CHARS = 200;
/** Each further page is this many times larger, so that a long text is reached in a few clicks. */
const GROWTH = 5;

export const LongText = ({ text, quoted = false }: { readonly text: string; readonly quoted?: boolean }): ReactNode => {
  const [shown, setShown] = useState(CHARS_PER_PAGE);
  const left = text.length - shown;
  return (
    <span className="long-text">
      {quoted && "“"}
      <Text most={shown}>{text}</Text>
      {quoted && "”"}
      {left > 0 && (
        <button type="button" className="button quiet" onClick={() => setShown(shown * GROWTH)}>
          {`${left.toLocaleString("en")} more characters`}
        </button>
      )}
    </span>
  );
};

const Leaf = ({ value }: { readonly value: unknown }): ReactNode => {
  const kind = kindOfJson(value);
  return (
    <span className={`json-${kind}`}>
      {typeof value === "string" ? <LongText text={value} quoted /> : String(value ?? null)}
    </span>
  );
};

interface NodeProps {
  readonly name: string | undefined;
  readonly value: unknown;
  readonly depth: number;
}

const Name = ({ name }: { readonly name: string | undefined }): ReactNode =>
  name === undefined ? null : (
    <>
      <span className="json-key">
        <Text most={KEY_CHARS}>{name}</Text>
      </span>
      <span className="muted">: </span>
    </>
  );

const JsonNode = ({ name, value, depth }: NodeProps): ReactNode => {
  const [isOpen, setOpen] = useState(() => isOpenAtFirst(value, depth));
  const [shown, setShown] = useState(CHILDREN_PER_PAGE);
  if (countOf(value) === 0) {
    const kind = kindOfJson(value);
    const empty = kind === "array" ? "[ ]" : kind === "object" ? "{ }" : undefined;
    return (
      <li className="json-leaf">
        <Name name={name} />
        {empty === undefined ? <Leaf value={value} /> : <span className="muted">{empty}</span>}
      </li>
    );
  }
  const { entries, left } = isOpen ? pageOf(value, shown) : { entries: [], left: 0 };
  const label = `${isOpen ? "Close" : "Open"} ${name === undefined ? "the value" : visibleText(name.slice(0, KEY_CHARS))}`;
  return (
    <li>
      <button
        type="button"
        className="json-twist"
        aria-expanded={isOpen}
        aria-label={label}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
      </button>
      <Name name={name} />
      <span className="muted">{summaryOf(value)}</span>
      {isOpen && (
        <ul>
          {entries.map(([key, child]) => (
            <JsonNode key={key} name={key} value={child} depth={depth + 1} />
          ))}
          {left > 0 && (
            <li>
              <button type="button" className="button quiet" onClick={() => setShown(shown * GROWTH)}>
                {`${left.toLocaleString("en")} more`}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
};

export const JsonTree = ({ value }: { readonly value: unknown }): ReactNode => (
  <ul className="json">
    <JsonNode name={undefined} value={value} depth={0} />
  </ul>
);
