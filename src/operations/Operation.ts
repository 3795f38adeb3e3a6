/**
 * What every operation is declared with: route, document, checks, transaction and journal entry are read from it.
 * The order of checks is 401 credential, 429 rate, 403 scope, closed and role, 400 input, 404 reach, 409 state.
 */
import { Clock, Effect, Schema, SchemaGetter, type Scope as EffectScope } from "effect"
import type { HttpMethod } from "effect/http"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Caller, everyone, type Role, type Scope } from "../domain/Access.ts"
import type { AccountId } from "../domain/Account.ts"
import * as Failure from "../domain/Failure.ts"
import { SessionRef } from "../domain/Messenger.ts"
import { contentNotice } from "../domain/Wire.ts"
import type { Changing, LiveReading, Outcome, Reading } from "./Context.ts"
import { encoder } from "./Encoding.ts"
import * as Journaling from "./Journaling.ts"
import * as Live from "./Live.ts"
import type { MessengerSession } from "./MessengerSession.ts"
import { Accounts, Db, Journal, RateLimiter, type RateState } from "./Ports.ts"
import { type AdmissionFailure, commonFailures, parameterInvalid, type Refusal } from "./Refusals.ts"

export { changed, type Changing, type LiveReading, type Outcome, type Reading, unchanged } from "./Context.ts"
export type { AdmissionFailure } from "./Refusals.ts"

type Fields = Schema.Struct.Fields
type Instance<C extends ReadonlyArray<Failure.FailureClass>> = C[number]["Type"]

/** What a caller passes: the members of path, query and body in one object. */
export type Input<Params extends Fields, Query extends Fields, Body extends Fields> =
  & Schema.Struct.Type<Params>
  & Schema.Struct.Type<Query>
  & Schema.Struct.Type<Body>

/** What an implementation answers; the content notice is added by the kernel and cannot be written by data. */
export type Answer<Success extends Schema.Top> = Omit<Success["Type"], "content_notice">

/**
 * How an operation works: `read` and `write` run in one transaction, a write with its journal entry; `live` reads the
 * messenger, `change` changes something on it, journaled as an intent before and an outcome after.
 */
export type Kind = "read" | "write" | "live" | "change"

/** Everything about an operation but its implementation. */
export interface Contract<
  Method extends HttpMethod.HttpMethod,
  Path extends `/v1/${string}`,
  Params extends Fields,
  Query extends Fields,
  Body extends Fields,
  Success extends Schema.Top,
  Failures extends ReadonlyArray<Failure.FailureClass>
> {
  readonly summary: string
  readonly description?: string
  readonly method: Method
  readonly path: Path
  readonly scope: Scope
  readonly roles: ReadonlyArray<Role>
  /** What a role that is not among `roles` gets. */
  readonly refusal?: Refusal
  /** Signs sessions out, ends protection or deletes data. */
  readonly destructive?: boolean
  /** Repeating it has no further effect; true unless told. */
  readonly idempotent?: boolean
  /** Where the console does the same: an assistant is sent there, because its answer is for a person alone. */
  readonly page?: `/${string}`
  /** Members of the path; with `account_id` the kernel loads the account that the caller reaches. */
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** The answer; with `content_notice` among its fields it carries third-party text. */
  readonly success: Success
  readonly failures?: Failures
}

/** A contract of an operation that changes something. */
interface Journaled {
  readonly journal: Journaling.Declared
}

/** A contract of a write that checks something before its transaction opens: what has to be kept even if it fails. */
interface Preceded<Input, E, R> {
  readonly before?: (input: Input, context: { readonly caller: Caller["Service"] }) => Effect.Effect<void, E, R>
}

/** The services that the kernel itself uses, by kind. */
type KernelServices<K extends Kind> =
  | Caller
  | Db
  | Accounts
  | (K extends "write" | "change" ? Journal : never)
  | (K extends "live" | "change" ? MessengerSession : never)

/** One operation: its contract, and the functions that every way in calls. */
export interface Operation<
  Id extends string,
  Method extends HttpMethod.HttpMethod,
  Path extends `/v1/${string}`,
  Params extends Fields,
  Query extends Fields,
  Body extends Fields,
  Success extends Schema.Top,
  Classes extends Failure.FailureClass,
  R
> {
  readonly id: Id
  readonly kind: Kind
  readonly summary: string
  readonly description: string | undefined
  readonly method: Method
  readonly path: Path
  readonly scope: Scope
  readonly roles: ReadonlyArray<Role>
  readonly refusal: Refusal
  readonly destructive: boolean
  readonly idempotent: boolean
  readonly page: `/${string}` | undefined
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly input: Schema.Struct<Params & Query & Body>
  readonly success: Success
  readonly thirdPartyText: boolean
  readonly failures: ReadonlyArray<Failure.FailureClass>
  readonly journal: Journaling.Declared | undefined
  readonly endpoint: HttpApiEndpoint.HttpApiEndpoint<
    Id,
    Method,
    Path,
    [keyof Params] extends [never] ? never : Schema.toCodecStringTree<Schema.Struct<Params>>,
    [keyof Query] extends [never] ? never : Schema.toCodecStringTree<Schema.Struct<Query>>,
    [keyof Body] extends [never] ? never : Schema.toCodecJson<Schema.Struct<Body>>,
    never,
    Schema.toCodecJson<Success>,
    ReturnType<typeof toWire<Classes>>
  >
  /** Counts the request and checks scope, organization and role. It needs no input. */
  readonly admit: Effect.Effect<RateState, AdmissionFailure, Caller | RateLimiter>
  /** Decodes the input, runs the operation and encodes its answer: for ways in that have admitted the request. */
  respond(input: unknown): Effect.Effect<unknown, Classes["Type"], R | Caller>
  /** Admits, decodes and runs: for embedding. The input is checked like any other. */
  call(
    input: Schema.Struct.Encoded<Params> & Schema.Struct.Encoded<Query> & Schema.Struct.Encoded<Body>
  ): Effect.Effect<Success["Type"], Classes["Type"], R | Caller | RateLimiter>
}

/** The way from a failure to its envelope and back, for documents and clients; one schema per class. */
export const toWire = <F extends Failure.FailureClass>(
  failure: F
): Schema.Codec<F["Type"], { readonly error: { readonly code: string; readonly message: string } }> => {
  const known = wires.get(failure)
  // The map holds for each class the schema made for it below.
  if (known !== undefined) return known as any
  const wire = Schema.Struct({
    error: Schema.Struct({
      type: Schema.Literal(Failure.failureTypes[failure.status]),
      code: Schema.Literal(failure.identifier),
      message: Schema.String,
      param: Schema.optionalKey(Schema.String)
    })
  }).annotate({ identifier: failure.identifier }).pipe(
    // The class is one of FailureClass, whose instances its constructor makes from these members.
    Schema.decodeTo(Schema.toType(failure) as any, {
      decode: SchemaGetter.transform(({ error }: any) => new (failure as any)(error, { disableChecks: true })),
      encode: SchemaGetter.transform((self: any) => Failure.errorBody(self, failure.status) as any)
    }),
    Schema.annotate({ httpApiStatus: failure.status, description: failure.identifier })
  )
  wires.set(failure, wire as any)
  return wire as any
}

const wires = new WeakMap<Failure.FailureClass, Schema.Top>()

/** The account that the caller reaches; one that does not exist and one out of reach fail alike. */
const reach = Effect.fnUntraced(function*(caller: Caller["Service"], id: AccountId, lock: boolean) {
  const accounts = yield* Accounts
  const account = yield* accounts.find(caller, id, lock)
  return account ?? (yield* new Failure.ResourceMissing({ param: "account_id" }))
})

// The implementations of the four kinds differ; each constructor below types its own, and `build` runs them all.
type Run = (input: any, context: any) => Effect.Effect<any, any, any>

const build = (id: string, kind: Kind, contract: any, run: Run): any => {
  const { body = {}, failures = [], params = {}, query = {}, success } = contract
  const journal: Journaling.Declared = contract.journal
  const roles: ReadonlyArray<Role> = contract.roles
  const refusal: Refusal = contract.refusal ?? Failure.RoleForbidden
  const messenger = kind === "live" || kind === "change"
  const classes: ReadonlyArray<Failure.FailureClass> = [
    ...new Set<Failure.FailureClass>([
      ...commonFailures,
      ...(roles.length === everyone.length ? [] : [refusal]),
      ...(Object.keys(params).length === 0 ? [] : [Failure.ResourceMissing]),
      ...(messenger ? Live.liveFailures : []),
      ...failures
    ])
  ]
  const input = Schema.Struct({ ...params, ...query, ...body })
  const thirdPartyText = "content_notice" in success.fields
  // A struct without fields takes any object, whatever stands in it.
  const accepted = Object.keys(input.fields).length === 0 ? Schema.Record(Schema.String, Schema.Never) : input
  const decode = Schema.decodeUnknownEffect(accepted as any, { onExcessProperty: "error" })
  const encode = encoder(success)

  const admit = Effect.gen(function*() {
    const caller = yield* Caller
    const limiter = yield* RateLimiter
    const rate = yield* limiter.consume(caller.credential.id)
    if (!caller.scopes.includes(contract.scope)) {
      return yield* new Failure.InsufficientScope({
        scope: contract.scope,
        message: `This operation needs the scope ${contract.scope}.`
      })
    }
    if (caller.organizationClosed) return yield* new Failure.OrganizationClosed({})
    if (!roles.includes(caller.role)) return yield* new refusal({})
    return rate
  })

  const work = Effect.fnUntraced(function*(input: any) {
    const caller = yield* Caller
    const db = yield* Db
    const now = new Date(yield* Clock.currentTimeMillis)
    const load = (lock: boolean) =>
      "account_id" in params ? reach(caller, input.account_id, lock) : Effect.succeed(undefined)
    if (messenger) {
      const account = yield* db.read(caller.organizationId, load(false))
      const live = yield* Live.open(
        account?.session_ref === null || account === undefined
          ? null
          : SessionRef.make(account.session_ref)
      )
      const context = { caller, now, account, live }
      return yield* run(input, { ...context, change: Journaling.changeWith(journal, context, live) })
    }
    if (kind === "read") {
      return yield* db.read(
        caller.organizationId,
        Effect.flatMap(load(false), (account) => run(input, { caller, now, account }))
      )
    }
    return yield* db.transaction(
      caller.organizationId,
      Effect.gen(function*() {
        const account = yield* load(true)
        const context = { caller, now, account }
        const outcome: Outcome<unknown> = yield* run(input, context)
        if (outcome.changed) {
          const entries = yield* Journal
          yield* entries.append(
            caller.organizationId,
            Journaling.entry(journal, { ...context, targetId: outcome.targetId }, "done", outcome.details, null)
          )
        }
        return outcome.answer
      })
    )
  }, Effect.scoped)

  const perform = Effect.fnUntraced(function*(raw: unknown) {
    const decoded = yield* Effect.mapError(decode(raw), (error) => parameterInvalid(error.issue))
    const caller = yield* Caller
    if (contract.page !== undefined && caller.via === "mcp") return yield* new Failure.ConsolePageRequired({})
    if (contract.before !== undefined) yield* contract.before(decoded, { caller })
    const answer = yield* work(decoded)
    return thirdPartyText ? { content_notice: contentNotice, ...answer } : answer
  })

  const endpoint = HttpApiEndpoint.make(contract.method as "POST")(id, contract.path, {
    params: Object.keys(params).length === 0 ? undefined : params,
    query: Object.keys(query).length === 0 ? undefined : query,
    payload: Object.keys(body).length === 0 ? undefined : Schema.Struct(body),
    success,
    error: classes.map(toWire) as any
  }).annotateMerge(OpenApi.annotations({
    identifier: id,
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    override: {
      tags: [area(contract)],
      security: [{ bearer: [] }],
      "x-scope": contract.scope,
      ...(contract.destructive === true ? { "x-destructive": true } : {})
    }
  }))

  return {
    ...contract,
    id,
    kind,
    refusal,
    destructive: contract.destructive ?? false,
    idempotent: contract.idempotent ?? true,
    page: contract.page,
    params,
    query,
    body,
    input,
    thirdPartyText,
    failures: classes,
    endpoint,
    admit,
    respond: (raw: unknown) => Effect.flatMap(perform(raw), encode),
    call: (raw: unknown) => Effect.withSpan(Effect.andThen(admit, perform(raw)), id)
  }
}

type Common = typeof commonFailures[number]
type PathFailure<Params> = [keyof Params] extends [never] ? never : typeof Failure.ResourceMissing
type LiveClass = typeof Live.liveFailures[number]
type Allowed<Failures extends ReadonlyArray<Failure.FailureClass>> =
  | Instance<Failures>
  | Failure.ParameterInvalid
  | Failure.ServiceUnavailable

type Constructor<K extends Kind> = <
  const Id extends string,
  const Method extends HttpMethod.HttpMethod,
  const Path extends `/v1/${string}`,
  Success extends Schema.Top,
  R,
  Params extends Fields = {},
  Query extends Fields = {},
  Body extends Fields = {},
  const Failures extends ReadonlyArray<Failure.FailureClass> = readonly [],
  Before = never
>(
  id: Id,
  contract:
    & Contract<Method, Path, Params, Query, Body, Success, Failures>
    & (K extends "write" | "change" ? Journaled : { readonly journal?: never })
    & (K extends "write" ? Preceded<Input<Params, Query, Body>, Allowed<Failures>, Before>
      : { readonly before?: never }),
  run: (
    input: Input<Params, Query, Body>,
    context: K extends "change" ? Changing<Schema.Struct.Type<Params>>
      : K extends "live" ? LiveReading<Schema.Struct.Type<Params>>
      : Reading<Schema.Struct.Type<Params>>
  ) => Effect.Effect<
    K extends "write" ? Outcome<Answer<Success>> : Answer<Success>,
    Allowed<Failures> | (K extends "live" | "change" ? Live.LiveFailure : never),
    R
  >
) => Operation<
  Id,
  Method,
  Path,
  Params,
  Query,
  Body,
  Success,
  | Common
  | Refusal
  | PathFailure<Params>
  | Failures[number]
  | (K extends "live" | "change" ? LiveClass : never),
  Exclude<R, EffectScope.Scope> | Before | KernelServices<K>
>

const constructor = <K extends Kind>(kind: K): Constructor<K> => (id, contract, run) => build(id, kind, contract, run)

/** An operation that reads, in one transaction. */
export const read = constructor("read")
/** An operation that changes the organization's data, in one transaction with its journal entry. */
export const write = constructor("write")
/** An operation that reads an account on the messenger. */
export const live = constructor("live")
/** An operation that changes an account on the messenger. */
export const change = constructor("change")

/** Any operation, for code that walks the list. */
export type Any =
  & Omit<Operation<string, HttpMethod.HttpMethod, `/v1/${string}`, any, any, any, any, any, any>, "endpoint">
  & {
    readonly endpoint: HttpApiEndpoint.Constraint
  }

/** The services that a list of operations needs, apart from the caller. */
export type Services<Operations extends ReadonlyArray<Any>> = Exclude<
  Effect.Services<ReturnType<Operations[number]["call"]>>,
  Caller
>

/** What an operation is about: the first part of its path. */
export const area = ({ path }: { readonly path: string }): string => path.split("/")[2] ?? ""

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
