/** The constructors of operations, each for a kind, and what a declaration is typed by. */
import type { Effect, Schema } from "effect"
import { type Scope as EffectScope } from "effect"
import type { HttpMethod } from "effect/http"
import type { AccountFacts } from "../domain/accounts/Account.ts"
import type { Content, ContentHead } from "../domain/Content.ts"
import type * as Failure from "../domain/Failure.ts"
import type * as Live from "../messenger/AccountSession.ts"
import type { contentFailures, loginFailures, sealedFailures, unlockFailures } from "./Build.ts"
import { build } from "./Build.ts"
import type { LiveReading, Outcome, ReadContext, RewriteContext, SealedContext, UnlockedContext } from "./Context.ts"
import type {
  Answer,
  ChangeContract,
  CheckedContract,
  ContentTerms,
  Contract,
  Fields,
  FindingContract,
  Input,
  Instance,
  KernelServices,
  Operation,
  OperationKind,
  StreamKind,
  StreamOperation,
  UnlockedContract
} from "./Contract.ts"
import type { commonFailures } from "./Refusals.ts"
import { type RoleRefusal } from "./Refusals.ts"
import type { LoginServices, LoginSteps } from "./runners/LoginStep.ts"
import type { Steps } from "./runners/MessengerChangeSteps.ts"

export type { FurtherEntry, Target } from "../changes/Record.ts"
export type { LiveFailure } from "../messenger/BoundedCalls.ts"
export * from "./Context.ts"
export type * from "./Contract.ts"
export { answersContent, answersSealed } from "./Contract.ts"
export { toWire } from "./FailureJson.ts"
export { type Any, byId, endpoints, type List, type Services } from "./OperationList.ts"
export type { AdmissionFailure, RoleRefusal } from "./Refusals.ts"
export type { LoginStepContext, LoginStepEnd, LoginSteps } from "./runners/LoginStep.ts"
export type { Steps } from "./runners/MessengerChangeSteps.ts"

type Common = typeof commonFailures[number]
type PathFailure<Params> = [keyof Params] extends [never] ? never : typeof Failure.ResourceMissing
type UnlockClass = typeof unlockFailures[number]
type SealedClass = typeof sealedFailures[number]
type ContentClass = typeof contentFailures[number]
type LoginClass = typeof loginFailures[number]
type LiveClass = typeof Live.liveFailures[number]
type Allowed<Failures extends ReadonlyArray<Failure.FailureClass>> =
  | Instance<Failures>
  | Failure.ParameterInvalid
  | Failure.ServiceUnavailable

/** Further failures of an operation where the same request may not be sent again without a key. */
type KeyFailure<Idempotent extends boolean> = Idempotent extends true ? never
  : typeof Failure.IdempotencyKeyReused | typeof Failure.IdempotencyInProgress

/** Further declarations of an operation of several steps. */
type SteppedContract<Idempotent extends boolean> = ChangeContract & {
  readonly idempotent: Idempotent
  readonly before?: never
  readonly find?: never
}

type Constructor<K extends Exclude<OperationKind, "guarded" | "login" | StreamKind>> = <
  const Id extends string,
  const Method extends HttpMethod.HttpMethod,
  const Path extends `/v1/${string}`,
  Success extends Schema.Top,
  R,
  Params extends Fields = {},
  Query extends Fields = {},
  Body extends Fields = {},
  const Failures extends ReadonlyArray<Failure.FailureClass> = readonly [],
  Before = never,
  Found = AccountFacts,
  FindR = never
>(
  id: Id,
  contract:
    & Contract<Method, Path, Params, Query, Body, Success, Failures>
    & (K extends "write" ? ChangeContract
      : K extends "rewrite" ? ChangeContract & { readonly idempotent: true }
      : { readonly journal?: never; readonly idempotent?: never })
    & (K extends "write" ? CheckedContract<Input<Params, Query, Body>, Allowed<Failures>, Before>
      : { readonly before?: never })
    & (K extends "unlocked" ? UnlockedContract<Answer<Success>> : { readonly messages?: never })
    & (K extends "read" ? FindingContract<Found, FindR> : { readonly find?: never }),
  run: (
    input: Input<Params, Query, Body>,
    context: K extends "live" ? LiveReading<Schema.Struct.Type<Params>>
      : K extends "unlocked" ? UnlockedContext<Schema.Struct.Type<Params>>
      : K extends "rewrite" ? RewriteContext<Schema.Struct.Type<Params>>
      : K extends "sealed" ? SealedContext<Schema.Struct.Type<Params>>
      : ReadContext<Schema.Struct.Type<Params>, Found>
  ) => Effect.Effect<
    K extends "write" ? Outcome<Answer<Success>> : Answer<Success>,
    Allowed<Failures> | (K extends "live" ? Live.LiveFailure : never),
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
  | RoleRefusal
  | (K extends "write" ? KeyFailure<false> : never)
  | PathFailure<Params>
  | Failures[number]
  | (K extends "live" ? LiveClass : never)
  | (K extends "unlocked" | "rewrite" ? UnlockClass : never)
  | (K extends "sealed" ? SealedClass : never),
  Exclude<R, EffectScope.Scope> | Before | FindR | KernelServices<K>
>

const constructor =
  <K extends Exclude<OperationKind, "guarded" | "login" | StreamKind>>(kind: K): Constructor<K> =>
  (id, contract, run) => build(id, kind, contract, run)

/** An operation that reads; each of its statements is of what is committed when it begins. */
export const read = constructor("read")
/** An operation that changes the organization's data, in one transaction with its journal entry. */
export const write = constructor("write")
/** An operation that reads an account on the messenger. */
export const live = constructor("live")

/**
 * An operation that reads the archive with its password. It runs outside any transaction, and reads in short ones of its
 * own.
 */
export const unlocked = constructor("unlocked")

/**
 * An operation that opens the archive with its password to change what is sealed: it prepares the change outside any
 * transaction, and commits it with its journal entry in one.
 */
export const rewrite = constructor("rewrite")

/**
 * An operation that answers the archive as it is stored, to callers who open it on their own machine. It runs outside any
 * transaction too.
 */
export const sealed = constructor("sealed")

type StreamConstructor<K extends StreamKind> = <
  const Id extends string,
  const Method extends HttpMethod.HttpMethod,
  const Path extends `/v1/${string}`,
  R,
  Params extends Fields = {},
  Query extends Fields = {},
  const Failures extends ReadonlyArray<Failure.FailureClass> = readonly []
>(
  id: Id,
  contract:
    & Omit<Contract<Method, Path, Params, Query, {}, typeof ContentHead, Failures>, "success">
    & { readonly content?: Partial<ContentTerms> },
  run: (
    input: Input<Params, Query, {}>,
    context: K extends "stream" ? UnlockedContext<Schema.Struct.Type<Params>>
      : SealedContext<Schema.Struct.Type<Params>>
  ) => Effect.Effect<Content, Allowed<Failures>, R>
) => StreamOperation<
  Id,
  Method,
  Path,
  Params,
  Query,
  | Common
  | RoleRefusal
  | PathFailure<Params>
  | Failures[number]
  | (K extends "stream" ? UnlockClass : SealedClass)
  | ContentClass,
  Exclude<R, EffectScope.Scope> | KernelServices<K>
>

const streamConstructor = <K extends StreamKind>(kind: K): StreamConstructor<K> => (id, contract, run) =>
  build(id, kind, contract, run)

/**
 * An operation that opens the archive as `unlocked` does, and answers a content. Its bytes are read after it has run,
 * so that they hold on to nothing of the opened archive but the keys that they need.
 */
export const stream = streamConstructor("stream")

/** An operation that answers a content as it is stored, to callers of `sealed` operations. */
export const sealedStream = streamConstructor("sealed_stream")

/** An operation that changes an account on the messenger, while nothing else uses the account. */
export const guarded = <
  const Id extends string,
  const Method extends HttpMethod.HttpMethod,
  const Path extends `/v1/${string}`,
  Success extends Schema.Top,
  Params extends Fields,
  Q,
  S,
  Check,
  const Idempotent extends boolean,
  Query extends Fields = {},
  Body extends Fields = {},
  const Failures extends ReadonlyArray<Failure.FailureClass> = readonly [],
  P = Q,
  Look = never,
  Lock = never,
  Prepare = never,
  Act = never,
  Settle = never,
  Failed = never,
  Answered = never
>(
  id: Id,
  contract: Contract<Method, Path, Params, Query, Body, Success, Failures> & SteppedContract<Idempotent>,
  steps: Steps<
    Input<Params, Query, Body>,
    Q,
    P,
    S,
    Answer<Success>,
    Allowed<Failures> | Live.LiveFailure,
    Check,
    Look,
    Lock,
    Prepare,
    Act,
    Settle,
    Failed,
    Answered
  >
): Operation<
  Id,
  Method,
  Path,
  Params,
  Query,
  Body,
  Success,
  | Common
  | RoleRefusal
  | typeof Failure.ResourceMissing
  | Failures[number]
  | LiveClass
  | KeyFailure<Idempotent>,
  | Exclude<Check | Look | Lock | Prepare | Act | Settle | Failed | Answered, EffectScope.Scope>
  | KernelServices<"guarded">
> => build(id, "guarded", contract, steps)

/** An operation that takes one step of a login. */
export const login = <
  const Id extends string,
  const Method extends HttpMethod.HttpMethod,
  const Path extends `/v1/${string}`,
  Success extends Schema.Top,
  P,
  S,
  const Idempotent extends boolean,
  Params extends Fields = {},
  Body extends Fields = {},
  const Failures extends ReadonlyArray<Failure.FailureClass> = readonly []
>(
  id: Id,
  contract: Contract<Method, Path, Params, {}, Body, Success, Failures> & SteppedContract<Idempotent>,
  steps: LoginSteps<Input<Params, {}, Body>, P, S, Answer<Success>, Allowed<Failures> | InstanceType<LoginClass>>
): Operation<
  Id,
  Method,
  Path,
  Params,
  {},
  Body,
  Success,
  | Common
  | RoleRefusal
  | PathFailure<Params>
  | Failures[number]
  | LoginClass
  | KeyFailure<Idempotent>,
  LoginServices | KernelServices<"login">
> => build(id, "login", contract, steps)
