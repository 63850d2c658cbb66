// A page that cannot be drawn says so, and the navigation stays.

import { Component, type ReactNode } from "react";
import { ApiProblem } from "../api/problem.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Page } from "../parts/section.tsx";

interface PageGuardProps {
  readonly children: ReactNode;
}

interface PageGuardState {
  readonly broken: string | undefined;
}

export class PageGuard extends Component<PageGuardProps, PageGuardState> {
  override state: PageGuardState = { broken: undefined };

  static getDerivedStateFromError(thrown: unknown): PageGuardState {
    return { broken: thrown instanceof Error ? thrown.message : String(thrown) };
  }

  override render(): ReactNode {
    const { broken } = this.state;
    if (broken === undefined) return this.props.children;
    const detail = {
      todo: "This is a mistake of the console, not of the plane. Try again, and report it with these words.",
    };
    const problem = new ApiProblem({ code: "console_error", message: broken, status: 0, detail });
    return (
      <Page title="This page cannot be shown">
        <ProblemNote problem={problem} onRetry={() => this.setState({ broken: undefined })} />
      </Page>
    );
  }
}
