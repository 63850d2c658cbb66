// The fields of a form that was planned from a schema.

import type { ReactNode } from "react";
import { Field } from "../parts/field.tsx";
import { visibleText } from "../text/visible-text.ts";
import { type FormField, WHOLE } from "./schema-form.ts";

interface InputProps {
  readonly field: FormField;
  readonly id: string;
  readonly described: string;
  readonly value: string;
  readonly isWrong: boolean;
  readonly onChange: (text: string) => void;
}

const LONG_TEXT = 60;

/** A text is shown without its quotes. */
const choiceText = (choice: string): string => {
  const value: unknown = JSON.parse(choice);
  return typeof value === "string" ? value : choice;
};

const Input = ({ field, id, described, value, isWrong, onChange }: InputProps): ReactNode => {
  const common = { id, value, "aria-describedby": described, "aria-invalid": isWrong };
  switch (field.kind) {
    case "choice":
    case "boolean": {
      const choices = field.kind === "boolean" ? ["true", "false"] : field.choices;
      return (
        <select {...common} onChange={(event) => onChange(event.target.value)}>
          <option value="">(left out)</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {visibleText(field.kind === "choice" ? choiceText(choice) : choice)}
            </option>
          ))}
        </select>
      );
    }
    case "json":
      return (
        <textarea
          {...common}
          rows={4}
          spellCheck={false}
          className="code-input"
          onChange={(event) => onChange(event.target.value)}
        />
      );
    case "number":
    case "integer":
      return <input {...common} inputMode="decimal" onChange={(event) => onChange(event.target.value)} />;
    case "secret":
      return (
        <input {...common} type="password" autoComplete="off" onChange={(event) => onChange(event.target.value)} />
      );
    case "text":
      return (
        <textarea
          {...common}
          rows={value.length > LONG_TEXT || value.includes("\n") ? 4 : 1}
          onChange={(event) => onChange(event.target.value)}
        />
      );
  }
};

interface SchemaFieldsProps {
  readonly fields: readonly FormField[];
  readonly texts: Readonly<Record<string, string>>;
  readonly wrong: Readonly<Record<string, string>>;
  readonly onChange: (name: string, text: string) => void;
}

export const SchemaFields = ({ fields, texts, wrong, onChange }: SchemaFieldsProps): ReactNode => (
  <>
    {fields.map((field) => (
      <Field
        key={field.name}
        label={field.name === WHOLE ? "Arguments" : field.name}
        note={field.note === "" ? undefined : field.note}
        wrong={wrong[field.name]}
        isRequired={field.isRequired}
      >
        {(id, described) => (
          <Input
            field={field}
            id={id}
            described={described}
            value={texts[field.name] ?? field.initial}
            isWrong={wrong[field.name] !== undefined}
            onChange={(text) => onChange(field.name, text)}
          />
        )}
      </Field>
    ))}
  </>
);
