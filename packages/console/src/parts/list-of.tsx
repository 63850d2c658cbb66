// A list that is asked for, in all its states. Every list of the console is drawn by this, so that none is without words when it is
// empty, loading, failing or forbidden.

import type { ReactNode } from "react";
import type { Pages } from "../api/use-pages.ts";
import { MoreButton } from "./more-button.tsx";
import { Show } from "./states.tsx";

interface ListOfProps<Item> {
  /** As in "You may not see tokens". */
  readonly what: string;
  readonly list: Pick<Pages<Item>, "items" | "problem" | "reload"> & Partial<Pick<Pages<Item>, "more">>;
  /** What to do next when there is nothing. */
  readonly empty: ReactNode;
  readonly children: (items: readonly Item[]) => ReactNode;
}

export const ListOf = <Item,>({ what, list, empty, children }: ListOfProps<Item>): ReactNode => (
  <div className="list" data-list={what}>
    <Show what={what} value={list.items} problem={list.problem} reload={list.reload}>
      {(items) =>
        items.length === 0 ? (
          empty
        ) : (
          <>
            {children(items)}
            <MoreButton more={list.more} />
          </>
        )
      }
    </Show>
  </div>
);
