/**
 * Makes an operation of its declaration.
 *
 * The order of checks is 401 credential, 429 rate, 403 scope, closed, role and limit, 400 input, 403 password, 404
 * access, 409 state.
 */
import { Context, Effect, Result, Schema } from "effect"
import { ContentHead } from "../domain/Content.ts"
import * as Failure from "../domain/Failure.ts"
import { contentNotice } from "../domain/JsonShapes.ts"
import { Caller, everyone } from "../domain/people/Access.ts"
import * as Live from "../messenger/AccountSession.ts"
import { admission, isRepetition } from "./Admission.ts"
import { planned } from "./Context.ts"
import { answersContent, answersSealed, type ContentTerms, type Declaration, type OperationKind } from "./Contract.ts"
import { writer } from "./Encoding.ts"
import { endpoint } from "./Endpoint.ts"
import { forwarding } from "./Forwarding.ts"
import { answered, type KeepAnswer, matched, once } from "./Idempotency.ts"
import { commonFailures, parameterInvalid, refusalOf } from "./Refusals.ts"
import { journalRefusals } from "./RefusedEntries.ts"
import { resolve } from "./Resolve.ts"
import { runLogin } from "./runners/LoginStep.ts"
import { runGuarded } from "./runners/MessengerChange.ts"
import { runLive } from "./runners/MessengerRead.ts"
import { runRead } from "./runners/Read.ts"
import { runRewrite } from "./runners/Rewrite.ts"
import { runSealed } from "./runners/Sealed.ts"
import { runUnlocked } from "./runners/Unlocked.ts"
import { runWrite } from "./runners/Write.ts"

/** The failures of every step of a login: there is no session yet. */
export const loginFailures = [Failure.MessengerRefused, Failure.MessengerUnavailable] as const

/** The failures of every operation that opens the archive. */
export const unlockFailures = [
  Failure.ArchivePasswordRequired,
  Failure.ArchivePasswordInvalid,
  Failure.BridgeRequired,
  Failure.TooManyAttempts,
  Failure.NoArchiveKey,
  Failure.ArchiveClosed
] as const

/** The failures of every operation that answers the archive as it is stored. */
export const sealedFailures = [Failure.LocalModeRequired, Failure.NoArchiveKey, Failure.ArchiveClosed] as const

/** The failures of an answer that is a content: over HTTP of its range, and within a message of its bytes. */
export const contentFailures = [Failure.RangeNotSatisfiable, Failure.FileTooLarge, Failure.ContentUnreadable] as const

/** Contents with a media type of their own, of which parts can be asked for. */
const anyContent: ContentTerms = { mediaType: "*/*", ranges: true }

// The implementations of the kinds differ; each constructor below types its own, and `build` takes them all.
type Run = any

/** The classes of all that the operation may fail with. */
const failuresOf = (
  declaration: Declaration,
  declared: ReadonlyArray<Failure.FailureClass>,
  unreached: boolean
): ReadonlyArray<Failure.FailureClass> => {
  const { archive, content, idempotent, kind, params, refusal, roles, whole } = declaration
  return [
    ...new Set<Failure.FailureClass>([
      ...commonFailures,
      ...(roles.length === everyone.length ? [] : [refusal]),
      ...(whole || archive ? [Failure.RoleForbidden] : []),
      ...(Object.keys(params).length === 0 ? [] : [Failure.ResourceMissing]),
      ...(idempotent ? [] : [Failure.IdempotencyKeyReused, Failure.IdempotencyInProgress]),
      ...(kind === "live" || kind === "guarded" ? unreached ? [Failure.MessengerUnavailable] : Live.liveFailures : []),
      ...(kind === "login" ? loginFailures : []),
      ...(kind === "unlocked" || kind === "stream" || kind === "rewrite" ? unlockFailures : []),
      ...(content === undefined
        ? []
        : contentFailures.filter((failure) => content.ranges || failure !== Failure.RangeNotSatisfiable)),
      ...(answersSealed(declaration) ? sealedFailures : []),
      ...declared
    ])
  ]
}

/** Steps without a look at the messenger go on with the plan of the check. */
const unlooked = (plan: unknown) => Effect.succeed(planned(plan))

const runner = (
  declaration: Declaration,
  contract: any,
  failures: ReadonlyArray<Failure.FailureClass>,
  run: Run
) => {
  const find = resolve(declaration.params, contract.find)
  const refusals = journalRefusals(declaration, contract.journal, failures)
  switch (declaration.kind) {
    case "read":
      return runRead(find, run)
    case "write":
      return runWrite(find, contract.journal, run, refusals)
    case "live":
      return runLive(find, run)
    case "guarded":
      return runGuarded(find, contract.journal, { look: unlooked, ...run }, refusals)
    case "login":
      return runLogin(find, run)
    case "unlocked":
    case "stream":
      return runUnlocked(find, contract.messages, run)
    case "rewrite":
      return runRewrite(find, contract.journal, run, refusals)
    case "sealed":
    case "sealed_stream":
      return runSealed(find, run)
  }
}

/** The operation that a contract and its implementation make. */
export const build = (id: string, kind: OperationKind, contract: any, run: Run): any => {
  const isStream = answersContent({ kind })
  const { body = {}, failures: declared = [], params = {}, query = {}, success = ContentHead } = contract
  const declaration: Declaration = {
    ...contract,
    id,
    kind,
    refusal: refusalOf(contract.roles),
    whole: contract.whole ?? false,
    archive: contract.archive ?? (kind === "unlocked" || kind === "rewrite" || answersSealed({ kind }) || isStream),
    roleAfter: contract.roleAfter,
    destructive: contract.destructive ?? false,
    confirm: contract.confirm ?? false,
    idempotent: contract.idempotent ?? true,
    page: contract.page,
    personal: contract.personal,
    personalIsArgument: contract.personalIsArgument ?? false,
    personalPage: contract.personalPage,
    params,
    query,
    body,
    success,
    content: isStream ? { ...anyContent, ...contract.content } : undefined
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
  const keptAnswer = answered(id, success)
  const elsewhere = kind === "live" || kind === "guarded" ? forwarding(id, success, failures) : undefined
  const head = isStream ? { object: "content" } : {}
  const complete = (answer: any) => thirdPartyText ? { content_notice: contentNotice, ...head, ...answer } : answer

  const change = (decoded: any, keep?: KeepAnswer) => {
    const worked = work(decoded, keep && ((answer) => keep(complete(answer))))
    return thirdPartyText ? Effect.map(worked, complete) : worked
  }

  /** The answer that is kept of the change, whose caller has lost the role by it: without one, the role is refused. */
  const repeated = (raw: unknown, decoded: Result.Result<any, unknown>, caller: Caller["Service"]) =>
    Effect.flatMap(
      Result.isFailure(decoded) ? Effect.succeed(null) : keptAnswer(matched(raw, decoded.success)),
      (kept) => {
        if (kept === null || Result.isFailure(decoded)) return Effect.fail(new declaration.refusal({}))
        return contract.before === undefined ? kept : Effect.andThen(contract.before(decoded.success, { caller }), kept)
      }
    )

  const performHere = (raw: unknown, input: any, caller: Caller["Service"]): Effect.Effect<any, any, any> => {
    if (exactlyOnce === undefined) {
      return contract.before === undefined
        ? change(input)
        : Effect.andThen(contract.before(input, { caller }), change(input))
    }
    const check = contract.before === undefined ? Effect.void : contract.before(input, { caller })
    return exactlyOnce(matched(raw, input), check, (keep) => change(input, keep))
  }

  const perform = (raw: unknown) =>
    Effect.withFiber((fiber): Effect.Effect<any, any, any> => {
      const decoded: Result.Result<any, Schema.SchemaError> = decode(raw)
      // The code that runs an operation provides its caller.
      const caller = Context.getUnsafe(fiber.context, Caller)
      if (isRepetition(declaration, caller)) return repeated(raw, decoded, caller)
      if (Result.isFailure(decoded)) return Effect.fail(parameterInvalid(decoded.failure.issue))
      if (contract.page !== undefined && caller.via === "mcp") return Effect.fail(new Failure.ConsolePageRequired({}))
      const input = decoded.success
      return elsewhere === undefined || input.account_id === undefined
        ? performHere(raw, input, caller)
        : elsewhere({ accountId: input.account_id, caller, input: raw }, performHere(raw, input, caller))
    })

  return {
    ...declaration,
    furtherActions: contract.furtherActions ?? [],
    input,
    thirdPartyText,
    failures,
    endpoint: endpoint(declaration, failures),
    admit,
    respond: isStream
      ? (raw: unknown) =>
        Effect.flatMap(perform(raw), (content) => Effect.map(write(content), (written) => ({ ...written, content })))
      : (raw: unknown) => Effect.flatMap(perform(raw), write),
    call: (raw: unknown) => Effect.withSpan(Effect.andThen(admit, perform(raw)), id)
  }
}
