// The frame of a page and of its parts.

import { type ReactNode, useEffect, useRef } from "react";

interface PageProps {
  readonly title: ReactNode;
  readonly lead?: ReactNode;
  readonly acts?: ReactNode;
  readonly children: ReactNode;
}

/** The name of the tab is the heading of the page: tabs, the history and screen readers tell pages apart by it. */
export const Page = ({ title, lead, acts, children }: PageProps): ReactNode => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const name = `${heading.current?.textContent ?? ""} - Toolplane`;
    if (document.title !== name) document.title = name;
  });
  return (
    <main id="main" tabIndex={-1} className="page">
      <header className="page-head">
        <div>
          <h1 ref={heading}>{title}</h1>
          {lead !== undefined && <div className="lead">{lead}</div>}
        </div>
        {acts !== undefined && <div className="acts">{acts}</div>}
      </header>
      {children}
    </main>
  );
};

interface SectionProps {
  readonly title: string;
  readonly acts?: ReactNode;
  readonly children: ReactNode;
}

export const Section = ({ title, acts, children }: SectionProps): ReactNode => (
  <section className="section" aria-label={title}>
    <header className="section-head">
      <h2>{title}</h2>
      {acts !== undefined && <div className="acts">{acts}</div>}
    </header>
    {children}
  </section>
);

/** Names and values; values that are undefined or null are left out. */
export const Facts = ({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }): ReactNode => (
  <dl className="facts">
    {facts
      .filter(([, value]) => value !== undefined && value !== null && value !== "")
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
