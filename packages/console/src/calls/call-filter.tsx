// The filters of the list; they stand in the address.

import type { ReactNode } from "react";
import { setQuery } from "../router/use-place.tsx";
import type { CallFilter } from "./call-rows.ts";

export const filterIn = (query: URLSearchParams): CallFilter => ({
  tool: query.get("tool") ?? "",
  agent: query.get("agent") ?? "",
  status: query.get("status") ?? "",
  error: query.get("error") ?? "",
});

const STATUSES = [
  ["", "every status"],
  ["open", "not over"],
  ["queued", "queued"],
  ["running", "running"],
  ["awaiting_approval", "needs approval"],
  ["success", "success"],
  ["failed", "failed"],
  ["timeout", "timeout"],
  ["canceled", "canceled"],
  ["partial", "partial"],
] as const;

export const FilterBar = ({ filter }: { readonly filter: CallFilter }): ReactNode => (
  <search className="filters" aria-label="Filter calls">
    <select aria-label="Status" value={filter.status} onChange={(event) => setQuery({ status: event.target.value })}>
      {STATUSES.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
    {(["tool", "agent", "error"] as const).map((name) => (
      <input
        key={name}
        type="search"
        aria-label={`Filter by ${name}`}
        placeholder={name === "error" ? "error code" : name}
        value={filter[name]}
        onChange={(event) => setQuery({ [name]: event.target.value })}
      />
    ))}
  </search>
);
