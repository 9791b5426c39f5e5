import type { FieldOptions, FieldsOptions } from '../config/user.js';
import type { User } from '../tables/core.js';
import type { ofNewUser } from './fields.js';

type ValueOf<O extends FieldOptions> = O extends { enum: readonly (infer Value)[] }
  ? Value
  : {
      string: string;
      integer: number;
      number: number;
      boolean: boolean;
      date: Date;
      plainDate: string;
      json: unknown;
    }[O['type']];

type Stored<O extends FieldOptions> = O extends { required: true } ? ValueOf<O> : ValueOf<O> | null;

type OutputOf<O extends FieldOptions> = O extends { output: infer Output } ? Output : 'self';

/** The fields of a user that the given audience can see. */
export type FieldsOf<F extends FieldsOptions, Output = 'self'> = {
  readonly [K in keyof F as OutputOf<F[K]> extends Output ? K : never]: Stored<F[K]>;
};

type MustBeGiven<O extends FieldOptions> = O extends { required: true }
  ? undefined extends O['default']
    ? true
    : false
  : false;

/** The fields of a new user. Required fields without a default must be passed. */
export type NewFields<F extends FieldsOptions> = {
  readonly [K in keyof F as MustBeGiven<F[K]> extends true ? K : never]: Stored<F[K]>;
} & { readonly [K in keyof F as MustBeGiven<F[K]> extends true ? never : K]?: Stored<F[K]> | undefined };

/** Fields to change. */
export type ChangedFields<F extends FieldsOptions> = { readonly [K in keyof F]?: Stored<F[K]> | undefined };

/** Whether an Auth has fields whose names are known. */
type HasFields<F extends FieldsOptions> = keyof F extends never
  ? false
  : string extends keyof F
    ? false
    : true;

/** A response type, with the fields added to every user within it. */
type WithUsers<T, F extends FieldsOptions> =
  T extends Promise<infer Value>
    ? Promise<WithUsers<Value, F>>
    : T extends User
      ? // The type of users for administrators has an index signature.
        T & FieldsOf<F, string extends keyof T ? 'self' | 'admin' : 'self'>
      : T extends { readonly user: User }
        ? T & { readonly user: WithUsers<T['user'], F> }
        : T extends { readonly users: readonly (infer Value)[] }
          ? T & { readonly users: readonly WithUsers<Value, F>[] }
          : T;

/** The language of a user, for apps with more than one, unless it is a field of the app. */
type Chosen<F extends FieldsOptions> = 'locale' extends keyof F
  ? unknown
  : { readonly locale?: string | null | undefined };

/** An input type, with the fields that it accepts. */
type WithInput<T, F extends FieldsOptions> = T extends { fields?: infer Values }
  ? Omit<T, 'fields'> &
      (typeof ofNewUser extends keyof NonNullable<Values>
        ? Record<never, never> extends NewFields<F>
          ? { fields?: (NewFields<F> & Chosen<F>) | undefined }
          : { fields: NewFields<F> & Chosen<F> }
        : { fields?: (ChangedFields<F> & Chosen<F>) | undefined })
  : T;

type WithInputs<T extends readonly unknown[], F extends FieldsOptions> = {
  [K in keyof T]: WithInput<T[K], F>;
};

/** Properties that are kept as they are, because functions with type parameters cannot be mapped. */
type Untouched = 'on' | 'models' | symbol;

type Filled<T, F extends FieldsOptions> = {
  readonly [K in keyof T]: K extends Untouched
    ? T[K]
    : T[K] extends (...given: infer Given) => infer Result
      ? (...given: WithInputs<Given, F>) => WithUsers<Result, F>
      : K extends 'users'
        ? Filled<T[K], F>
        : T[K];
};

/** An API with the app's fields in its inputs and in the users that it returns. */
export type WithFields<T, F extends FieldsOptions> = HasFields<F> extends true ? Filled<T, F> : T;
