// A list that comes in pages: the first at once, more when the person asks.

import { useCallback, useEffect, useState } from "react";
import { type ApiProblem, toProblem } from "./problem.ts";
import { type Page, request, withQuery } from "./request.ts";
import { useLoad } from "./use-load.ts";

export interface Pages<Item> {
  readonly items: readonly Item[] | undefined;
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  /** Undefined when there is no more. */
  readonly more: (() => void) | undefined;
  readonly reload: () => void;
}

export const usePages = <Item>(
  path: string | undefined,
  query: Readonly<Record<string, string | number | undefined>> = {},
): Pages<Item> => {
  const key = path === undefined ? undefined : withQuery(path, query);
  const first = useLoad(key, (signal) => request<Page<Item>>(key ?? "", { signal }));
  const [further, setFurther] = useState<{ items: readonly Item[]; cursor: string | null } | undefined>();
  const [problem, setProblem] = useState<ApiProblem>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a first page that was loaded again begins the list again
  useEffect(() => {
    setFurther(undefined);
    setProblem(undefined);
  }, [first.value]);
  const cursor = further === undefined ? (first.value?.next_cursor ?? null) : further.cursor;
  const more = useCallback(() => {
    if (path === undefined || cursor === null) return;
    request<Page<Item>>(withQuery(path, { ...query, cursor }))
      .then((page) =>
        setFurther((before) => ({ items: [...(before?.items ?? []), ...page.items], cursor: page.next_cursor })),
      )
      .catch((thrown: unknown) => setProblem(toProblem(thrown)));
  }, [path, query, cursor]);
  return {
    items: first.value && [...first.value.items, ...(further?.items ?? [])],
    problem: first.problem ?? problem,
    isLoading: first.isLoading,
    more: cursor === null ? undefined : more,
    reload: first.reload,
  };
};
