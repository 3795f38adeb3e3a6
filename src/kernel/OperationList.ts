/** Helpers for code that iterates over a list of operations. */
import type { Effect } from "effect"
import type { HttpMethod } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { Caller } from "../domain/people/Access.ts"
import type { Operation } from "./Contract.ts"

/** Methods that a route may have. */
type Method = Exclude<HttpMethod.HttpMethod, "HEAD" | "TRACE">

/** Any operation, for code that iterates over the list. */
export type Any =
  & Omit<Operation<string, Method, `/v1/${string}`, any, any, any, any, any, any>, "endpoint">
  & {
    readonly endpoint: HttpApiEndpoint.Constraint
  }

/** Some operations, which are served. */
export type List = readonly [Any, ...ReadonlyArray<Any>]

/** The services that a list of operations needs, apart from the caller. */
export type Services<Operations extends ReadonlyArray<Any>> = Exclude<
  Effect.Services<ReturnType<Operations[number]["call"]>>,
  Caller
>

/** The endpoints of a list of operations, for documents and clients. */
export const endpoints = <const Operations extends ReadonlyArray<Any>>(
  operations: Operations
): { readonly [K in keyof Operations]: Operations[K]["endpoint"] } =>
  // A mapped tuple has one element for each of the original's.
  operations.map((operation) => operation.endpoint) as any

/** A list of operations by their id. */
export const byId = <const Operations extends ReadonlyArray<Any>>(
  operations: Operations
): { readonly [Each in Operations[number] as Each["id"]]: Each } =>
  // Each entry is keyed by its own id.
  Object.fromEntries(operations.map((operation) => [operation.id, operation])) as any
