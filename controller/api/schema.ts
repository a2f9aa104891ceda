import { type Static, type TProperties, type TSchema, Type } from "typebox";

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The values a schema describes. */
export type View<S extends TSchema> = DeepReadonly<Static<S>>;

/** An object with a name of its own in the API's document. */
export const named = <P extends TProperties>(title: string, description: string, properties: P) =>
  Type.Object(properties, { title, description });

export const text = (description?: string) => Type.String(description === undefined ? {} : { description });
export const number = (description?: string) => Type.Number(description === undefined ? {} : { description });
export const integer = (description?: string) => Type.Integer(description === undefined ? {} : { description });
/** A 64-bit counter in decimal. */
export const counter = (description?: string) =>
  Type.String({ pattern: "^[0-9]+$", ...(description === undefined ? {} : { description }) });

/** Null says more than a missing property: it is known that there is none. */
export const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** The library's own type for values of an enum is too wide once the values come by a parameter. */
export const oneOf = <const V extends readonly string[]>(values: V, description?: string) =>
  Type.Unsafe<V[number]>(Type.Enum([...values], description === undefined ? {} : { description }));

export const list = <S extends TSchema>(schema: S, description?: string) =>
  Type.Array(schema, description === undefined ? {} : { description });
