// Audit: which person or program did what, newest first.

import type { ReactNode } from "react";
import { projectPath } from "../api/request.ts";
import { usePages } from "../api/use-pages.ts";
import { MoreButton } from "../parts/more-button.tsx";
import { Page } from "../parts/section.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { When } from "../parts/when.tsx";
import { WideTable } from "../parts/wide-table.tsx";
import { Text } from "../text/text.tsx";

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

export const AuditPage = ({ project }: { readonly project: string }): ReactNode => {
  const entries = usePages<Entry>(projectPath(project, "audit"), { limit: 100 });
  return (
    <Page title="Audit" lead="Acts that changed something in this project.">
      <Show what="the audit" value={entries.items} problem={entries.problem} reload={entries.reload}>
        {(items) =>
          items.length === 0 ? (
            <Empty title="No act yet">
              <p>Registering a tool, approving a call, stopping a turn and other acts are recorded here.</p>
            </Empty>
          ) : (
            <>
              <WideTable label="Acts, newest first">
                <thead>
                  <tr>
                    <th scope="col">When</th>
                    <th scope="col">Act</th>
                    <th scope="col">About</th>
                    <th scope="col">By</th>
                    <th scope="col">Detail</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((entry) => (
                    <tr key={entry.audit_id}>
                      <td>
                        <When at={entry.at} />
                      </td>
                      <td className="whole">
                        <Text most={100}>{entry.act}</Text>
                      </td>
                      <td>
                        <Text most={150}>{entry.subject ?? ""}</Text>
                      </td>
                      <td>
                        <Text most={100}>{entry.actor ?? ""}</Text>{" "}
                        <span className="muted">{[entry.role, entry.door].filter(Boolean).join(", ")}</span>
                      </td>
                      <td className="muted">
                        <Text most={DETAIL_CHARS}>
                          {entry.detail === null ? "" : (JSON.stringify(entry.detail) ?? "")}
                        </Text>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </WideTable>
              <MoreButton more={entries.more} />
            </>
          )
        }
      </Show>
    </Page>
  );
};
