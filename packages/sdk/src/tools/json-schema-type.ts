// The TypeScript type of a plain JSON Schema that was written down in the program, for the keywords people use in tool
// parameters. What it does not understand becomes `unknown` or any JSON value, never a wrong type.

import type { JsonObject } from "@toolplane/protocol";

type Simple = { string: string; number: number; integer: number; boolean: boolean; null: null };

type Required<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;

type Properties<S, P> = { -readonly [K in keyof P as K extends Required<S> ? K : never]: JsonSchemaType<P[K]> } & {
  -readonly [K in keyof P as K extends Required<S> ? never : K]?: JsonSchemaType<P[K]>;
};

type Flat<T> = { [K in keyof T]: T[K] };

type Typed<S, T> = T extends keyof Simple
  ? Simple[T]
  : T extends "array"
    ? S extends { readonly items: infer I }
      ? JsonSchemaType<I>[]
      : unknown[]
    : T extends "object"
      ? S extends { readonly properties: infer P }
        ? Flat<Properties<S, P>>
        : JsonObject
      : unknown;

export type JsonSchemaType<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? JsonSchemaType<A>
      : S extends { readonly oneOf: readonly (infer A)[] }
        ? JsonSchemaType<A>
        : S extends { readonly type: readonly (infer T)[] }
          ? Typed<S, T>
          : S extends { readonly type: infer T }
            ? Typed<S, T>
            : unknown;
