/** Random requests of every operation, generated from the declarations: a new operation is among them at once. */
import { Arbitrary, Effect, Schema, SchemaAST } from "effect"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../added/index.ts"
import { drawn } from "./drawn.ts"
import * as World from "./world.ts"

/** What an id of a request names. */
export type IdKind =
  | "account"
  | "event"
  | "department"
  | "admin"
  | "person"
  | "credential"
  | "key"
  | "connection"
  | "request"
  | "session"
  | "record"
  | "login"
  | "chat"
  | "message"
  | "member"
  | "file"
  | "rule"
  | "hold"
  | "cleanup"
  | "export"

const idKinds: Readonly<Record<string, IdKind>> = {
  account_id: "account",
  account_ids: "account",
  department_ids: "department",
  event_id: "event",
  before_id: "event",
  department_id: "department",
  admin_id: "admin",
  credential_id: "credential",
  api_key_id: "key",
  connection_id: "connection",
  request_id: "request",
  session_id: "session",
  login_id: "login",
  chat_id: "chat",
  message_id: "message",
  message_ids: "message",
  after_id: "message",
  chat_ids: "chat",
  from_id: "member",
  file_id: "file",
  rule_id: "rule",
  hold_id: "hold",
  cleanup_id: "cleanup",
  export_id: "export"
}

const nobodys = "00000000-0000-4000-8000-000000000000"

/** The values in which the fields of a declaration do something, where random ones would rarely. */
const telling: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  // A text that is answered as it was sent: an id of another organization in it would look like a leak.
  block_id: ["1", "404"],
  related_request_id: ["req_01kdr4k4qzf7d8x7v5v0v8m2ab"],
  username: ["", "abcde", "Random_Name_7", "another_name", "x", "9wrong"],
  action: ["account.*", "account.paused", "profile.updated", "mail_preferences.set", "nothing.*"],
  before: ["1970-01-01T00:00:00.000Z", "1971-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"],
  since: ["1970-01-01T00:00:00.000Z", "1970-01-01T00:10:00.000Z", "2026-01-01T00:00:00.000Z", "2026-01-01"],
  until: ["1970-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z", "2026-02-01"],
  // Accounts that are nobody's.
  criteria: [{ account_ids: [nobodys] }, { account_ids: [nobodys], before: "2026-01-01T00:00:00.000Z" }, {}]
}

/** What the cursors of the lists name. */
const listed: Readonly<Record<string, IdKind>> = {
  list_protected_accounts: "account",
  list_departments: "department",
  list_admins: "person",
  list_support_requests: "request",
  list_sessions: "record",
  list_accounts: "account",
  list_chats: "chat",
  list_chat_members: "member",
  list_files: "file",
  list_archive_rules: "rule",
  list_archive_holds: "hold",
  list_archive_cleanups: "cleanup",
  list_archive_exports: "export"
}

/** What a member of the operation's input names; an admin whom it acts on is none that requests are sent by. */
export const idKindOf = (operation: Operation.Any, name: string): IdKind | undefined => {
  const kind = name === "starting_after"
    ? listed[operation.id]
    : name === "before_id" && Object.hasOwn(operation.query, "after_id")
    ? "message"
    : name === "admin_id" && !Object.hasOwn(operation.query, name)
    ? "person"
    : idKinds[name]
  if (telling[name] !== undefined) return undefined
  if (kind === undefined && /^starting_after$|_ids?$/.test(name)) {
    throw new Error(`${operation.id}: test/support/random.ts does not know what ${name} names`)
  }
  return kind
}

/** The ids that a request draws from. */
export type Ids = Readonly<Record<IdKind, ReadonlyArray<string>>>

/** No ids at all, for requests that name theirs. */
export const noIds: Ids = {
  account: [],
  event: [],
  department: [],
  admin: [],
  person: [],
  credential: [],
  key: [],
  connection: [],
  request: [],
  session: [],
  record: [],
  login: [],
  chat: [],
  message: [],
  member: [],
  file: [],
  rule: [],
  hold: [],
  cleanup: [],
  export: []
}

/** An id by its place among the ids of its kind, whichever those are when the request is sent. */
interface Pick {
  readonly pick: number
}

/** A request whose ids are drawn later. */
export interface Draft {
  readonly operation: string
  readonly members: Readonly<Record<string, unknown>>
}

/** A request that can be sent. */
export interface Request {
  readonly operation: Operation.Any
  readonly method: string
  readonly path: string
  readonly body: unknown
  /** All members in one object, as a tool takes them. */
  readonly input: Readonly<Record<string, unknown>>
}

const Pick = Schema.Struct({ pick: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9999 })) })

/** One of several. */
export const oneOf = <A>(...arbitraries: ReadonlyArray<Arbitrary.Arbitrary<A>>): Arbitrary.Arbitrary<A> =>
  Arbitrary.flatMap(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: arbitraries.length - 1 }))),
    (index) => arbitraries[index] ?? Arbitrary.Constant(undefined as never)
  )

/** One of the values. */
export const pickOf = <A>(...values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  oneOf(...values.map((value) => Arbitrary.Constant(value)))

/** A whole number between the two, both included. */
export const between = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

const picked = (name: string): Arbitrary.Arbitrary<unknown> =>
  name.endsWith("_ids") ? Arbitrary.array(Arbitrary.schema(Pick), { maxLength: 3 }) : Arbitrary.schema(Pick)

const field = (operation: Operation.Any, name: string, schema: Schema.Top): Arbitrary.Arbitrary<unknown> =>
  idKindOf(operation, name) !== undefined
    ? SchemaAST.isUnion(Schema.toEncoded(schema).ast)
      ? oneOf<unknown>(Arbitrary.Constant(null), picked(name), picked(name))
      : picked(name)
    : telling[name] !== undefined
    ? pickOf(...telling[name])
    : Arbitrary.schema(Schema.toEncoded(schema) as Schema.Codec<unknown>)

const members = (operation: Operation.Any): Arbitrary.Arbitrary<Record<string, unknown>> => {
  const fields: Record<string, Schema.Top> = { ...operation.params, ...operation.query, ...operation.body }
  const absent = Symbol()
  return Arbitrary.map(
    Arbitrary.all(
      Object.fromEntries(
        // Wrong passwords would have the runs wait.
        Object.entries(fields).filter(([name]) => name !== "current_password").map(([name, schema]) => [
          name,
          SchemaAST.isOptional(schema.ast)
            ? oneOf<unknown>(Arbitrary.Constant(absent), field(operation, name, schema))
            : field(operation, name, schema)
        ])
      )
    ),
    (all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== absent))
  )
}

/**
 * Whether the operation is a step of a login: it needs the one before it, and its own tests take them in their order.
 */
export const isStep = ({ kind }: Operation.Any): boolean => kind === "login"

const draftsOf = (operations: ReadonlyArray<Operation.Any>): Arbitrary.Arbitrary<Draft> =>
  oneOf(
    ...operations.map((operation) =>
      Arbitrary.map(members(operation), (members): Draft => ({ operation: operation.id, members }))
    )
  )

const byId = (id: string): Operation.Any => {
  const found = operations.find((operation) => operation.id === id)
  if (found === undefined) throw new Error(`No operation ${id}`)
  return found
}

/** Random requests of the operations of these ids. */
export const draftsOfIds = (...ids: ReadonlyArray<Operation.Any["id"]>): Arbitrary.Arbitrary<Draft> =>
  draftsOf(ids.map(byId))

/** Random requests of the operations that hold the condition, but for steps of logins; of all of them by default. */
export const drafts = (
  of: (operation: Operation.Any) => boolean = () => true
): Arbitrary.Arbitrary<Draft> =>
  draftsOf(operations.filter((operation: Operation.Any) => of(operation) && !isStep(operation)))

/** Random requests of every operation, steps of logins too, whose limits may have them refused. */
export const everyDraft: Arbitrary.Arbitrary<Draft> = draftsOf(operations)

const isPick = (value: unknown): value is Pick => typeof value === "object" && value !== null && "pick" in value

/** The request with its ids drawn. */
export const draw = ({ members, operation: id }: Draft, ids: Ids): Request => {
  const operation = byId(id)
  const idOf = (kind: IdKind, { pick }: Pick) => ids[kind][pick % ids[kind].length] ?? crypto.randomUUID()
  const drawn = Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const kind = idKindOf(operation, name)
      if (kind === undefined) return [name, value]
      if (Array.isArray(value)) return [name, value.map((one) => isPick(one) ? idOf(kind, one) : one)]
      return [name, isPick(value) ? idOf(kind, value) : value]
    })
  )
  const of = (fields: object) => Object.entries(drawn).filter(([name]) => Object.hasOwn(fields, name))
  const path = of(operation.params).reduce(
    (path, [name, value]) => path.replace(`:${name}`, encodeURIComponent(String(value))),
    operation.path as string
  )
  const query = new URLSearchParams(
    of(operation.query).map(([name, value]): [string, string] => [String(name), String(value)])
  ).toString()
  const body = Object.fromEntries(of(operation.body))
  return {
    operation,
    method: operation.method,
    path: query === "" ? path : `${path}?${query}`,
    body: Object.keys(operation.body).length === 0 ? undefined : body,
    input: drawn
  }
}

/** Sends the request. */
export const send = (request: Request, key: NonNullable<World.Asking["key"]>) =>
  World.send(request.method, request.path, {
    key,
    ...(request.body === undefined ? {} : { body: request.body })
  })

/** Sends the request, and dies with it when the answer is one that no request may get. */
export const sendSound = (request: Request, key: NonNullable<World.Asking["key"]>) =>
  Effect.tap(send(request, key), (answer) =>
    answer.status === 429 || answer.status >= 500
      ? Effect.die(new Error(`${request.method} ${request.path} answers ${answer.status}`))
      : Effect.void)

/** Whether the operation changes something. */
export const changes = ({ kind }: Operation.Any): boolean => ["write", "guarded", "login", "rewrite"].includes(kind)

/** Dies with the smallest counterexample unless the property holds for every run. */
export const holds = <A, R>(
  arbitrary: Arbitrary.Arbitrary<A>,
  runs: number,
  property: (value: A) => Effect.Effect<unknown, unknown, R>
): Effect.Effect<void, never, R> =>
  Effect.flatMap(
    Arbitrary.checkEffect(
      arbitrary,
      (value) => Effect.as(Effect.catchCause(property(value), (cause) => Effect.fail(cause)), true),
      drawn(runs).arbitrary
    ),
    (result) => {
      const failure = Arbitrary.formatCheckFailure(result)
      return failure === undefined ? Effect.void : Effect.die(new Error(failure))
    }
  )
