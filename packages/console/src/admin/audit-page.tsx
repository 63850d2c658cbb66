// Audit: which person or program did what, newest first.

import type { ReactNode } from "react";
import { projectPath } from "../api/request.ts";
import { usePages } from "../api/use-pages.ts";
import { ListOf } from "../parts/list-of.tsx";
import { Page } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { When } from "../parts/when.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import { actWords, detailWords, placeOfSubject } from "./audit-words.ts";

interface Entry {
  readonly audit_id: string;
  readonly at: string;
  readonly act: string;
  readonly subject: string | null;
  readonly actor: string | null;
  readonly role: string | null;
  readonly door: string | null;
  readonly detail: unknown;
}

const DETAIL_CHARS = 300;

const EntryRow = ({ project, entry }: { readonly project: string; readonly entry: Entry }): ReactNode => {
  const place = placeOfSubject(project, entry.act, entry.subject);
  const subject = <Text most={150}>{entry.subject ?? ""}</Text>;
  const details = detailWords(entry.detail);
  return (
    <li className="row act">
      <span className="row-name">
        <Text most={100}>{actWords(entry.act)}</Text>
      </span>
      <span className="row-text">{place === undefined ? subject : <Link to={place}>{subject}</Link>}</span>
      <span className="row-end muted">
        <span>
          <Text most={100}>{entry.actor ?? ""}</Text> {[entry.role, entry.door].filter(Boolean).join(", ")}
        </span>
        <When at={entry.at} />
      </span>
      {details.length > 0 && (
        <dl className="act-detail">
          {details.map(([name, value]) => (
            <div key={name}>
              <dt>
                <Text most={64}>{name}</Text>
              </dt>
              <dd>
                <Text most={DETAIL_CHARS}>{value}</Text>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
};

export const AuditPage = ({ project }: { readonly project: string }): ReactNode => {
  const entries = usePages<Entry>(projectPath(project, "audit"), { limit: 100 });
  return (
    <Page title="Audit" lead="Acts that changed something in this project, and the person or program behind each.">
      <ListOf
        what="the audit"
        list={entries}
        empty={
          <Empty title="No act yet">
            <p>Registering a tool, approving a call, stopping a turn and other acts are recorded here.</p>
          </Empty>
        }
      >
        {(items) => (
          <ul className="rows" aria-label="Acts, newest first">
            {items.map((entry) => (
              <EntryRow key={entry.audit_id} project={project} entry={entry} />
            ))}
          </ul>
        )}
      </ListOf>
    </Page>
  );
};
