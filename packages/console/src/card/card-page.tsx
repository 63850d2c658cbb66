// Card: what the plane stores of a call, a result or an agent's words. A large card is shown by pages of its text.

import { type ReactNode, useState } from "react";
import { projectPath, request, withQuery } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import { ValueView } from "../json/value-view.tsx";
import { Button } from "../parts/button.tsx";
import { ScrollText } from "../parts/scroll-text.tsx";
import { Facts, Page, Section } from "../parts/section.tsx";
import { Show } from "../parts/states.tsx";
import { When } from "../parts/when.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { type CardBody, type CardPiece, PIECE_CHARS } from "./card-body.ts";

const number = (value: number): string => value.toLocaleString("en");

interface PiecesProps {
  readonly piece: CardPiece;
  readonly onGo: (offset: number) => void;
}

const Pieces = ({ piece, onGo }: PiecesProps): ReactNode => {
  const { offset, total, text, next_offset } = piece;
  return (
    <Section
      title="Content"
      acts={
        <>
          <span className="muted">
            {`characters ${number(offset + 1)} to ${number(offset + text.length)} of ${number(total)}`}
          </span>
          <Button disabled={offset === 0} onClick={() => onGo(Math.max(0, offset - PIECE_CHARS))}>
            Page before
          </Button>
          <Button disabled={next_offset === null} onClick={() => onGo(next_offset ?? offset)}>
            Next page
          </Button>
        </>
      }
    >
      <p className="note">The card is large: its JSON is shown as text, page by page.</p>
      <ScrollText className="piece">
        <Text>{text}</Text>
      </ScrollText>
    </Section>
  );
};

const Whole = ({ project, card }: { readonly project: string; readonly card: CardBody }): ReactNode => (
  <>
    <Section title="Facts">
      <Facts
        facts={[
          ["Written by", <Text key="a">{card.author_id}</Text>],
          ["Written", <When key="w" at={card.created_at} />],
          [
            "Call",
            card.tool_call_id && (
              <Link key="c" to={{ kind: "call", project, id: card.tool_call_id }}>
                {card.tool_call_id}
              </Link>
            ),
          ],
          ["Kept for", card.ttl_seconds === null ? undefined : `${number(card.ttl_seconds)} seconds`],
        ]}
      />
    </Section>
    <Section title="Content">
      <ValueView label="Content" value={card.content} />
      {card.tool_calls !== null && card.tool_calls.length > 0 && (
        <ValueView label="Calls it asks for" value={card.tool_calls} />
      )}
      {Object.keys(card.metadata).length > 0 && <ValueView label="Metadata" value={card.metadata} />}
    </Section>
  </>
);

export const CardPage = ({ project, id }: { readonly project: string; readonly id: string }): ReactNode => {
  const [offset, setOffset] = useState(0);
  const path = projectPath(project, "cards", id);
  const piecePath = withQuery(path, { offset, length: PIECE_CHARS });
  const piece = useLoad(piecePath, (signal) => request<CardPiece>(piecePath, { signal }));
  // How large the card is, is known from its first piece.
  const isSmall = piece.value !== undefined && piece.value.total <= PIECE_CHARS;
  const whole = useLoad(isSmall ? path : undefined, (signal) => request<CardBody>(path, { signal }));
  const shown = isSmall ? whole : piece;
  return (
    <Page
      title={
        <>
          <span className="kicker">Card</span> <code>{visibleText(piece.value?.type ?? "")}</code>
        </>
      }
      lead={<code className="muted">{visibleText(id)}</code>}
    >
      <Show what="the card" value={shown.value} problem={shown.problem ?? piece.problem} reload={shown.reload}>
        {(body) =>
          "content" in body ? <Whole project={project} card={body} /> : <Pieces piece={body} onGo={setOffset} />
        }
      </Show>
    </Page>
  );
};
