// The two public interfaces of schema libraries, written down here so that no library is a dependency: Standard Schema
// (`validate`) and Standard JSON Schema (`jsonSchema`). Libraries: zod from 4.2, and any other that has both.

export interface StandardTypes<Input, Output> {
  readonly input: Input;
  readonly output: Output;
}

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly types?: StandardTypes<Input, Output> | undefined;
  readonly validate?: ((value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>) | undefined;
  readonly jsonSchema: {
    readonly input: (options: { readonly target: string }) => Record<string, unknown>;
  };
}

/** A schema that can describe itself as JSON Schema, and usually validates too. */
export interface StandardJsonSchema<Input = unknown, Output = Input> {
  readonly "~standard": StandardProps<Input, Output>;
}

export const hasStandard = (schema: unknown): schema is { readonly "~standard": Partial<StandardProps> } =>
  ((typeof schema === "object" && schema !== null) || typeof schema === "function") &&
  typeof (schema as { readonly "~standard"?: unknown })["~standard"] === "object";
