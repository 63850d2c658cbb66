// A new token. Its secret is shown once: the plane keeps only its hash.

import { type ReactNode, useState } from "react";
import { request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Field } from "../parts/field.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { ROLES } from "../session/session.tsx";

const TTLS = [
  ["86400", "a day"],
  ["2592000", "30 days"],
  ["31536000", "a year"],
  ["", "until it is revoked"],
] as const;

interface TokenFormProps {
  readonly projects: readonly string[];
  readonly onMade: () => void;
}

export const TokenForm = ({ projects, onMade }: TokenFormProps): ReactNode => {
  const [role, setRole] = useState<string>("operator");
  const [project, setProject] = useState(projects[0] ?? "");
  const [label, setLabel] = useState("");
  const [actor, setActor] = useState("");
  const [targets, setTargets] = useState("");
  const [ttl, setTtl] = useState("2592000");
  const [secret, setSecret] = useState<string>();
  const make = useAct(async () => {
    const names = targets
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean);
    const body = {
      role,
      ...(role === "admin" ? {} : { project_id: project }),
      ...(label === "" ? {} : { label }),
      ...(actor === "" ? {} : { actor }),
      ...(names.length === 0 ? {} : { targets: names }),
      ...(ttl === "" ? {} : { ttl_seconds: Number(ttl) }),
    };
    const made = await request<{ token: string }>("/tokens", { method: "POST", body });
    setSecret(made.token);
    onMade();
  });
  return (
    <form
      className="stack narrow"
      onSubmit={(event) => {
        event.preventDefault();
        make.run();
      }}
    >
      <Field label="Role" note="An operator acts, a viewer looks, an agent calls, a tool serves its targets.">
        {(id, described) => (
          <select id={id} aria-describedby={described} value={role} onChange={(event) => setRole(event.target.value)}>
            {ROLES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
      {role !== "admin" && (
        <Field label="Project">
          {(id) => (
            <select id={id} value={project} onChange={(event) => setProject(event.target.value)}>
              {projects.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field label="Label" note="The person or the program that gets it.">
        {(id, described) => (
          <input
            id={id}
            aria-describedby={described}
            value={label}
            onChange={(event) => setLabel(event.target.value)}
          />
        )}
      </Field>
      {(role === "agent" || role === "tool") && (
        <Field label="Actor" note={role === "agent" ? "The id of the agent it speaks for." : "For example tool.text"}>
          {(id, described) => (
            <input
              id={id}
              aria-describedby={described}
              value={actor}
              onChange={(event) => setActor(event.target.value)}
            />
          )}
        </Field>
      )}
      {role === "tool" && (
        <Field label="Targets" note="With commas between them.">
          {(id, described) => (
            <input
              id={id}
              aria-describedby={described}
              value={targets}
              onChange={(event) => setTargets(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Valid for">
        {(id) => (
          <select id={id} value={ttl} onChange={(event) => setTtl(event.target.value)}>
            {TTLS.map(([value, words]) => (
              <option key={words} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="acts">
        <Button type="submit" kind="main" busy={make.isBusy}>
          Make a token
        </Button>
      </div>
      {make.problem !== undefined && <ProblemNote problem={make.problem} />}
      {secret !== undefined && (
        <div className="made" role="status">
          <p>Copy it now. It is shown this once.</p>
          <p className="acts">
            <code className="secret">{secret}</code>
            <CopyButton text={secret} label="Copy" />
            <Button kind="quiet" onClick={() => setSecret(undefined)}>
              Hide it
            </Button>
          </p>
        </div>
      )}
    </form>
  );
};
