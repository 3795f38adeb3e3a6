/**
 * How an operation is made of its declaration.
 *
 * The order of checks is 401 credential, 429 rate, 403 scope, closed, role and limit, 400 input, 403 password, 404
 * access, 409 state.
 */
import { Context, Effect, Result, Schema, type Scope as EffectScope } from "effect"
import type { HttpMethod } from "effect/http"
import { Caller, everyone } from "../domain/Access.ts"
import * as Failure from "../domain/Failure.ts"
import { contentNotice } from "../domain/Wire.ts"
import { admission } from "./Admission.ts"
import type { LiveReading, Outcome, ReadContext } from "./Context.ts"
import type {
  Accompanied,
  Answer,
  ChangeContract,
  Contract,
  Declaration,
  Fields,
  Input,
  Instance,
  KernelServices,
  Operation,
  OperationKind,
  Preceded
} from "./Contract.ts"
import { writer } from "./Encoding.ts"
import { endpoint } from "./Endpoint.ts"
import { type KeepAnswer, once } from "./Idempotency.ts"
import * as Live from "./Live.ts"
import { commonFailures, parameterInvalid, type RoleRefusal } from "./Refusals.ts"
import { journalRefusals } from "./Refused.ts"
import { resolve } from "./Resolve.ts"
import { runGuarded } from "./runners/Guarded.ts"
import type { Steps } from "./runners/GuardedSteps.ts"
import { runLive } from "./runners/Live.ts"
import { type LoginServices, type LoginSteps, runLogin } from "./runners/Login.ts"
import { runRead } from "./runners/Read.ts"
import { runWrite } from "./runners/Write.ts"

export * from "./Context.ts"
export type * from "./Contract.ts"
export { type Any, byId, endpoints, type List, type Services } from "./List.ts"
export type { LiveFailure } from "./LiveCalls.ts"
export type { AdmissionFailure, RoleRefusal } from "./Refusals.ts"
export type { Steps } from "./runners/GuardedSteps.ts"
export type { Ended, Entering, LoginSteps } from "./runners/Login.ts"
export { toWire } from "./Wire.ts"

/** What every step of a login may fail with: there is no session yet. */
const loginFailures = [Failure.MessengerRefused, Failure.MessengerUnavailable] as const

// The implementations of the kinds differ; each constructor below types its own, and `build` takes them all.
type Run = any

/** The classes of all that the operation may fail with. */
const failuresOf = (
  { idempotent, kind, params, refusal, roles, whole }: Declaration,
  declared: ReadonlyArray<Failure.FailureClass>,
  unreached: boolean
): ReadonlyArray<Failure.FailureClass> => [
  ...new Set<Failure.FailureClass>([
    ...commonFailures,
    ...(roles.length === everyone.length ? [] : [refusal]),
    ...(whole ? [Failure.RoleForbidden] : []),
    ...(Object.keys(params).length === 0 ? [] : [Failure.ResourceMissing]),
    ...(idempotent ? [] : [Failure.IdempotencyKeyReused, Failure.IdempotencyInProgress]),
    ...(kind === "live" || kind === "guarded" ? unreached ? [Failure.MessengerUnavailable] : Live.liveFailures : []),
    ...(kind === "login" ? loginFailures : []),
    ...declared
  ])
]

const runner = (
  declaration: Declaration,
  contract: any,
  failures: ReadonlyArray<Failure.FailureClass>,
  run: Run
) => {
  const find = resolve(declaration.params)
  const refusals = journalRefusals(declaration, contract.journal, failures)
  switch (declaration.kind) {
    case "read":
      return runRead(find, contract.beside, run)
    case "write":
      return runWrite(find, contract.journal, run, refusals)
    case "live":
      return runLive(find, run)
    case "guarded":
      return runGuarded(find, contract.journal, run, refusals)
    case "login":
      return runLogin(find, run)
  }
}

const build = (id: string, kind: OperationKind, contract: any, run: Run): any => {
  const { body = {}, failures: declared = [], params = {}, query = {}, success } = contract
  const declaration: Declaration = {
    ...contract,
    id,
    kind,
    refusal: contract.refusal ?? Failure.RoleForbidden,
    whole: contract.whole ?? false,
    destructive: contract.destructive ?? false,
    confirm: contract.confirm ?? false,
    idempotent: contract.idempotent ?? true,
    page: contract.page,
    personal: contract.personal,
    params,
    query,
    body
  }
  const failures = failuresOf(declaration, declared, kind === "guarded" && run.unreached === true)
  const input = Schema.Struct({ ...params, ...query, ...body })
  const thirdPartyText = "content_notice" in success.fields
  // A struct without fields accepts any object.
  const accepted = Object.keys(input.fields).length === 0 ? Schema.Record(Schema.String, Schema.Never) : input
  const decode = Schema.decodeUnknownResult(accepted as any, { onExcessProperty: "error" })
  const write = writer(success)
  const admit = admission(declaration)
  const work: (input: any, keep?: KeepAnswer) => Effect.Effect<any, any, any> = runner(
    declaration,
    contract,
    failures,
    run
  )
  const exactlyOnce = declaration.idempotent ? undefined : once(id, success)
  const complete = (answer: any) => thirdPartyText ? { content_notice: contentNotice, ...answer } : answer

  const change = (decoded: any, caller: Caller["Service"], keep?: KeepAnswer) => {
    const worked = work(decoded, keep && ((answer) => keep(complete(answer))))
    const done = thirdPartyText ? Effect.map(worked, complete) : worked
    return contract.before === undefined ? done : Effect.andThen(contract.before(decoded, { caller }), done)
  }

  const perform = (raw: unknown) =>
    Effect.withFiber((fiber): Effect.Effect<any, any, any> => {
      const decoded: Result.Result<any, Schema.SchemaError> = decode(raw)
      if (Result.isFailure(decoded)) return Effect.fail(parameterInvalid(decoded.failure.issue))
      // The code that runs an operation provides its caller.
      const caller = Context.getUnsafe(fiber.context, Caller)
      if (contract.page !== undefined && caller.via === "mcp") return Effect.fail(new Failure.ConsolePageRequired({}))
      return exactlyOnce === undefined
        ? change(decoded.success, caller)
        : exactlyOnce(raw, (keep) => change(decoded.success, caller, keep))
    })

  return {
    ...declaration,
    input,
    thirdPartyText,
    failures,
    endpoint: endpoint(declaration, failures),
    admit,
    respond: (raw: unknown) => Effect.flatMap(perform(raw), write),
    call: (raw: unknown) => Effect.withSpan(Effect.andThen(admit, perform(raw)), id)
  }
}

type Common = typeof commonFailures[number]
type PathFailure<Params> = [keyof Params] extends [never] ? never : typeof Failure.ResourceMissing
type LoginClass = typeof loginFailures[number]
type LiveClass = typeof Live.liveFailures[number]
type Allowed<Failures extends ReadonlyArray<Failure.FailureClass>> =
  | Instance<Failures>
  | Failure.ParameterInvalid
  | Failure.ServiceUnavailable

type Constructor<K extends Exclude<OperationKind, "guarded" | "login">> = <
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
  Beside = undefined,
  BesideR = never
>(
  id: Id,
  contract:
    & Contract<Method, Path, Params, Query, Body, Success, Failures>
    & (K extends "write" ? ChangeContract : { readonly journal?: never; readonly idempotent?: never })
    & (K extends "write" ? Preceded<Input<Params, Query, Body>, Allowed<Failures>, Before>
      : { readonly before?: never })
    & (K extends "read" ? Accompanied<Input<Params, Query, Body>, Beside, BesideR> : { readonly beside?: never }),
  run: (
    input: Input<Params, Query, Body>,
    context: K extends "live" ? LiveReading<Schema.Struct.Type<Params>>
      : ReadContext<Schema.Struct.Type<Params>, Beside>
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
  | (K extends "write" ? typeof Failure.IdempotencyKeyReused | typeof Failure.IdempotencyInProgress : never)
  | PathFailure<Params>
  | Failures[number]
  | (K extends "live" ? LiveClass : never),
  Exclude<R, EffectScope.Scope> | Before | BesideR | KernelServices<K>
>

const constructor =
  <K extends Exclude<OperationKind, "guarded" | "login">>(kind: K): Constructor<K> => (id, contract, run) =>
    build(id, kind, contract, run)

/** An operation that reads; each of its statements is of what is committed when it begins. */
export const read = constructor("read")
/** An operation that changes the organization's data, in one transaction with its journal entry. */
export const write = constructor("write")
/** An operation that reads an account on the messenger. */
export const live = constructor("live")

/** An operation that changes an account on the messenger, while nothing else uses the account. */
export const guarded = <
  const Id extends string,
  const Method extends HttpMethod.HttpMethod,
  const Path extends `/v1/${string}`,
  Success extends Schema.Top,
  Params extends Fields,
  P,
  S,
  R,
  const Idempotent extends boolean,
  Query extends Fields = {},
  Body extends Fields = {},
  const Failures extends ReadonlyArray<Failure.FailureClass> = readonly []
>(
  id: Id,
  contract:
    & Contract<Method, Path, Params, Query, Body, Success, Failures>
    & ChangeContract
    & { readonly idempotent: Idempotent; readonly before?: never; readonly beside?: never },
  steps: Steps<Input<Params, Query, Body>, P, S, Answer<Success>, Allowed<Failures> | Live.LiveFailure, R>
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
  | (Idempotent extends true ? never : typeof Failure.IdempotencyKeyReused | typeof Failure.IdempotencyInProgress),
  Exclude<R, EffectScope.Scope> | KernelServices<"guarded">
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
  contract:
    & Contract<Method, Path, Params, {}, Body, Success, Failures>
    & ChangeContract
    & { readonly idempotent: Idempotent; readonly before?: never; readonly beside?: never },
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
  | (Idempotent extends true ? never : typeof Failure.IdempotencyKeyReused | typeof Failure.IdempotencyInProgress),
  LoginServices | KernelServices<"login">
> => build(id, "login", contract, steps)
