/** The declaration of an operation: route, document, checks, transaction and journal entry are read from it. */
import type { Effect, Schema } from "effect"
import type { HttpMethod } from "effect/http"
import type { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import type { AccountId } from "../domain/accounts/Account.ts"
import type { Content, ContentHead } from "../domain/Content.ts"
import type * as Failure from "../domain/Failure.ts"
import type { JournalAction } from "../domain/journal/JournalEntry.ts"
import type { Caller, Role, Scope } from "../domain/people/Access.ts"
import type { AccountLock } from "../ports/accounts/AccountLock.ts"
import type { Accounts } from "../ports/accounts/Accounts.ts"
import type { ArchiveKeys } from "../ports/archive/ArchiveKeys.ts"
import type { ArchiveReads } from "../ports/archive/ArchiveReads.ts"
import type { ArchiveUnlock } from "../ports/archive/ArchiveUnlock.ts"
import type { ArchiveUnreadables } from "../ports/archive/ArchiveUnreadables.ts"
import type { Db } from "../ports/Db.ts"
import type { IdempotencyKeys } from "../ports/IdempotencyKeys.ts"
import type { Journal } from "../ports/journal/Journal.ts"
import type { Outbox } from "../ports/mail/Outbox.ts"
import type { MessengerSession } from "../ports/messenger/MessengerSession.ts"
import type { Organizations } from "../ports/organization/Organizations.ts"
import type { ServiceSessions } from "../ports/protection/ServiceSessions.ts"
import type { RateLimiter, RateState } from "../ports/RateLimits.ts"
import type { Whole } from "./Admission.ts"
import type { EncodedAnswer } from "./Encoding.ts"
import type { toWire } from "./FailureJson.ts"
import type { AdmissionFailure, RoleRefusal } from "./Refusals.ts"

export type Fields = Schema.Struct.Fields
export type Instance<C extends ReadonlyArray<Failure.FailureClass>> = C[number]["Type"]

/**
 * The subject of an operation: assistants choose some of the tools by it. The one that most of them need comes first.
 */
export const toolsets = ["accounts", "security", "console", "journal", "archive", "admin"] as const
export type Toolset = typeof toolsets[number]

/** The input of a caller: the members of path, query and body in one object. */
export type Input<Params extends Fields, Query extends Fields, Body extends Fields> =
  & Schema.Struct.Type<Params>
  & Schema.Struct.Type<Query>
  & Schema.Struct.Type<Body>

/** The answer of an implementation; the content notice is added by the kernel and cannot be written by data. */
export type Answer<Success extends Schema.Top> = Omit<Success["Type"], "content_notice">

/**
 * The kind of an operation: `read` can change nothing, and each of its statements is of what is committed when it
 * begins; `write` runs in one transaction with its journal entry; `live` reads the messenger; `guarded` changes
 * something on it while nothing else uses the account, journaled as an intent before and an outcome after; `login`
 * takes one step of a login, whose row is the intent; `unlocked` reads the archive with its password; `stream` does so
 * too, and answers bytes while they are read; `rewrite` opens it to change what is sealed; `sealed` reads the archive as
 * it is stored, for callers who open it themselves, and `sealed_stream` answers stored bytes.
 */
export type OperationKind =
  | "read"
  | "write"
  | "live"
  | "guarded"
  | "login"
  | "unlocked"
  | "stream"
  | "rewrite"
  | "sealed"
  | "sealed_stream"

/** Kinds whose answer is a content. */
export type StreamKind = "stream" | "sealed_stream"

/** Facts of the contents of an operation that are known before it runs. */
export interface ContentTerms {
  /** Their media type, or the range of all types where each has its own. */
  readonly mediaType: string
  /** False where their size is known only at the end, so that no part of them can be asked for. */
  readonly ranges: boolean
}

/** A request in the demo organization and its answer there, as they are on the wire: the document's example. */
export interface Sample<
  Params extends Fields,
  Query extends Fields,
  Body extends Fields,
  Success extends Schema.Top
> {
  readonly request: Schema.Struct.Encoded<Params> & Schema.Struct.Encoded<Query> & Schema.Struct.Encoded<Body>
  /** The kernel adds the content notice. */
  readonly answer: Omit<Success["Encoded"], "content_notice">
}

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
  readonly toolset: Toolset
  readonly scope: Scope
  readonly roles: ReadonlyArray<Role>
  /**
   * Makes sense only for the whole organization: a credential with a limit gets `role_forbidden`; with `accounts`, one
   * that is limited to accounts does.
   */
  readonly whole?: Whole
  /** Reads the archive: an admin to whom it was not granted gets `role_forbidden`. */
  readonly archive?: boolean
  /** Signs sessions out, ends protection or deletes data. */
  readonly destructive?: boolean
  /** A client has a person confirm it before. */
  readonly confirm?: boolean
  /** The console page that does the same: assistants are sent there, because the answer is only for a person. */
  readonly page?: `/${string}`
  /**
   * The member that a person enters: over MCP it is requested from the person, and is no argument of the tool. One
   * that may be left out is asked for where the operation is refused for want of it.
   */
  readonly personal?: keyof Body & string
  /** True if it is an argument of the tool as well, because it is no secret; the person is asked where it is left out. */
  readonly personalIsArgument?: boolean
  /** The console page where a person enters it: the ids in its address are members of the call. */
  readonly personalPage?: `/${string}`
  /** Members of the path; with `account_id` the kernel loads the account that the caller can access. */
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** The answer; with `content_notice` among its fields it carries third-party text. */
  readonly success: Success
  readonly failures?: Failures
  readonly sample: NoInfer<Sample<Params, Query, Body, Success>>
}

/** A contract of an operation that changes something. */
export interface ChangeContract {
  /** Repeating it has no further effect. One that is not idempotent takes an `Idempotency-Key`. */
  readonly idempotent: boolean
  readonly journal: JournalAction
  /** The role that the caller has after the change, where it may not make the change any more. */
  readonly roleAfter?: Role
  /** Actions of further entries that only this operation writes. */
  readonly furtherActions?: ReadonlyArray<JournalAction>
}

/** A contract of a write that checks something before its transaction opens: what has to be kept even if it fails. */
export interface CheckedContract<Input, E, R> {
  readonly before?: (input: Input, context: { readonly caller: Caller["Service"] }) => Effect.Effect<void, E, R>
}

/** The contract of a read that needs more of its account than the facts. */
export interface FindingContract<Found, R> {
  /** Finds the account for the context; null where the caller cannot access it. */
  readonly find?: (caller: Caller["Service"], id: AccountId) => Effect.Effect<Found | null, never, R>
}

/** A contract of an operation that reads the archive. */
export interface UnlockedContract<Answer> {
  /** The messages of an answer about an account, which are counted as read; none by default. */
  readonly messages?: (answer: Answer) => number
}

/** The services that the kernel itself uses, by kind. */
export type KernelServices<K extends OperationKind> =
  | Caller
  | Db
  | Accounts
  | (K extends "write" | "guarded" | "login" | "unlocked" | "stream" | "rewrite" ? Outbox : never)
  | (K extends "write" | "guarded" | "login" ? IdempotencyKeys : never)
  | (K extends "write" | "guarded" | "login" | "unlocked" | "stream" | "rewrite" ? Journal : never)
  | (K extends "login" | "unlocked" | "rewrite" | "sealed" | StreamKind ? Organizations : never)
  | (K extends "unlocked" | "stream" | "rewrite" ? ArchiveUnlock | ArchiveUnreadables : never)
  | (K extends "unlocked" | "rewrite" | "sealed" | StreamKind ? ArchiveKeys | ArchiveReads : never)
  | (K extends "guarded" ? AccountLock | ServiceSessions : never)
  | (K extends "live" | "guarded" ? MessengerSession : never)

/**
 * The work that a runner makes of an operation: it needs no service but those of its kind, and what the operation
 * itself uses.
 */
export type Work<K extends OperationKind, R> = (
  ...input: never
) => Effect.Effect<unknown, unknown, R | KernelServices<K>>

/** A contract with its defaults and without its types: what the kernel makes an operation of. */
export interface Declaration {
  readonly id: string
  readonly kind: OperationKind
  readonly summary: string
  readonly description: string | undefined
  readonly method: HttpMethod.HttpMethod
  readonly path: `/v1/${string}`
  readonly toolset: Toolset
  readonly scope: Scope
  readonly roles: ReadonlyArray<Role>
  readonly refusal: RoleRefusal
  readonly whole: Whole
  readonly archive: boolean
  readonly roleAfter: Role | undefined
  readonly destructive: boolean
  readonly confirm: boolean
  readonly idempotent: boolean
  readonly page: `/${string}` | undefined
  readonly personal: string | undefined
  readonly personalIsArgument: boolean
  readonly personalPage: `/${string}` | undefined
  readonly params: Fields
  readonly query: Fields
  readonly body: Fields
  readonly success: Schema.Top
  /** Undefined where the answer is no content. */
  readonly content: ContentTerms | undefined
  readonly sample: {
    readonly request: Readonly<Record<string, unknown>>
    readonly answer: object
  }
}

/** One operation: its contract, and the functions that every transport calls. */
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
> extends Declaration {
  readonly id: Id
  readonly method: Method
  readonly path: Path
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly input: Schema.Struct<Params & Query & Body>
  readonly success: Success
  readonly thirdPartyText: boolean
  readonly failures: ReadonlyArray<Failure.FailureClass>
  readonly journal: JournalAction | undefined
  readonly furtherActions: ReadonlyArray<JournalAction>
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
  /** Decodes the input, runs the operation and writes its answer: for transports that have admitted the request. */
  respond(input: unknown): Effect.Effect<EncodedAnswer, Classes["Type"], R | Caller>
  /** Admits, decodes and runs: for embedding. The input is checked like any other. */
  call(
    input: Schema.Struct.Encoded<Params> & Schema.Struct.Encoded<Query> & Schema.Struct.Encoded<Body>
  ): Effect.Effect<Success["Type"], Classes["Type"], R | Caller | RateLimiter>
}

/**
 * An operation whose answer is a content: `respond` has what of it fits into JSON, and its bytes beside; over HTTP the
 * bytes are the body.
 */
export interface StreamOperation<
  Id extends string,
  Method extends HttpMethod.HttpMethod,
  Path extends `/v1/${string}`,
  Params extends Fields,
  Query extends Fields,
  Classes extends Failure.FailureClass,
  R
> extends Omit<Operation<Id, Method, Path, Params, Query, {}, typeof ContentHead, Classes, R>, "call" | "endpoint"> {
  readonly endpoint: HttpApiEndpoint.HttpApiEndpoint<
    Id,
    Method,
    Path,
    [keyof Params] extends [never] ? never : Schema.toCodecStringTree<Schema.Struct<Params>>,
    [keyof Query] extends [never] ? never : Schema.toCodecStringTree<Schema.Struct<Query>>,
    never,
    never,
    HttpApiSchema.StreamUint8Array,
    ReturnType<typeof toWire<Classes>>
  >
  call(
    input: Schema.Struct.Encoded<Params> & Schema.Struct.Encoded<Query>
  ): Effect.Effect<Content, Classes["Type"], R | Caller | RateLimiter>
}

/** True if the answer is a content. */
export const answersContent = ({ kind }: Pick<Declaration, "kind">): boolean =>
  kind === "stream" || kind === "sealed_stream"

/** True if the answer is sealed: it is of use to a caller who opens the archive, and to no other. */
export const answersSealed = ({ kind }: Pick<Declaration, "kind">): boolean =>
  kind === "sealed" || kind === "sealed_stream"
