/** Requests of operations, made of their samples: a new operation is among them at once. */
import { Effect, Predicate } from "effect"
import type * as Operation from "../../../src/kernel/Operation.ts"
import { operations } from "../../added/index.ts"
import { isPrepared, leftOut, type Place, prepare } from "../preparations.ts"
import * as Random from "../random.ts"
import * as World from "../world.ts"

const all: ReadonlyArray<Operation.Any> = operations

/** What the requests are about. */
export type Subject = Partial<Record<Random.IdKind, string>>

/** What an operation's request is made of. */
export interface Request {
  readonly id: string
  readonly operation: Operation.Any
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** All members in one object, as a tool takes them. */
  readonly input: Readonly<Record<string, unknown>>
}

/** Members of which a stage needs other values than the demo organization: one username for each account. */
const fitting: Readonly<Record<string, (subject: Subject) => unknown>> = {
  username: ({ account = "" }) => `u${account.replaceAll("-", "").slice(-20)}`
}

/** The members of the sample's request with the subject's ids, on pages of the usual size. */
export const inputOf = (operation: Operation.Any, subject: Subject): Readonly<Record<string, unknown>> => {
  const fitted = (members: object): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(members).filter(([name]) => name !== "limit").map(([name, value]) => {
        if (Predicate.isObject(value)) return [name, fitted(value)]
        const kind = Random.idKindOf(operation, name)
        if (kind === undefined) return [name, fitting[name]?.(subject) ?? value]
        const id = subject[kind]
        return [name, id === undefined ? value : Array.isArray(value) ? value.map(() => id) : id]
      })
    )
  return fitted(operation.sample.request)
}

/** The request that says the input over HTTP. */
export const requestOf = (operation: Operation.Any, input: Readonly<Record<string, unknown>>): Request => ({
  ...Random.draw({ operation: operation.id, members: input }, Random.noIds),
  id: operation.id,
  input
})

/** The requests that need no preparation, about one account, one event and what else is named, in list order. */
export const requests = (account: string, event: string, more: Subject = {}): ReadonlyArray<Request> =>
  all.filter((operation) => !leftOut.thirdPartyText(operation))
    .map((operation) => requestOf(operation, inputOf(operation, { ...more, account, event })))

/**
 * A request of every operation in the list's order, none left out, for what needs no state: refusals, and headers.
 *
 * Those that are prepared name nothing that is there, unless another subject is named for them.
 */
const everyRequest = (subject: Subject, apart: Subject = {}): ReadonlyArray<Request> =>
  all.map((operation) => requestOf(operation, inputOf(operation, isPrepared(operation.id) ? apart : subject)))

/** Every kind of id. */
const kinds = Object.keys(Random.noIds) as ReadonlyArray<Random.IdKind>

/** The messenger's own ids have another form. */
const messengerKinds: ReadonlySet<string> = new Set(["chat", "message", "member"])

/** A request of every operation that names this id wherever it names one of these kinds. */
export const naming = (id: string, ofKinds: ReadonlyArray<Random.IdKind> = kinds): ReadonlyArray<Request> => {
  const named = Object.fromEntries(ofKinds.map((kind) => [kind, messengerKinds.has(kind) ? "404404" : id]))
  return everyRequest(named, named)
}

/** The operations that change something, in the order of the list. */
export const changing: ReadonlySet<string> = new Set(all.filter(Random.changes).map(({ id }) => id))

/** The request that succeeds, once there is what the operation needs; it names the subject otherwise. */
const succeeding = (operation: Operation.Any, subject: Subject, place: Place) =>
  Effect.map(
    prepare(operation.id, place),
    (prepared) =>
      requestOf(operation, {
        ...inputOf(operation, { ...subject, ...prepared.subject }),
        ...prepared.members
      })
  )

/** What an operation journals besides its own entry. */
const besides: Readonly<Record<string, ReadonlyArray<string>>> = {
  submit_login_code: ["account.connected done"],
  submit_login_password: ["account.connected done"]
}

/** The entries that a success of the operation leaves, in their order. */
export const journaled = ({ id, journal, kind }: Operation.Any): ReadonlyArray<string> =>
  journal === undefined ? [] : [
    ...(kind === "guarded" ? [`${journal.action} pending`] : []),
    `${journal.action} done`,
    ...(besides[id] ?? [])
  ]

/** Sends one of the requests. */
export const ask = (request: Pick<Request, "method" | "path" | "body">, key?: World.Asking["key"]) =>
  World.send(request.method, request.path, {
    ...(key === undefined ? {} : { key }),
    ...(request.body === undefined ? {} : { body: request.body })
  })

/** An organization with a live account, and one event of its journal. */
export const makeStage = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  const organization = yield* World.makeOrganization(facts)
  const account = yield* World.makeLiveAccount(organization.id)
  yield* World.put(`/v1/accounts/${account.id}/role-label`, organization.admins.owner.key, { role_label: "First" })
  const events = yield* World.get("/v1/journal", organization.admins.owner.key)
  const eventId: string = events.body.data[0].id
  const department = yield* World.makeDepartment(organization.id)
  const request = yield* World.makeSupportRequest(organization.id, organization.admins.owner.id)
  const login = yield* World.makeLogin(organization.id, organization.admins.admin.id)
  const person = organization.admins.superadmin.id
  const subject: Subject = { account: account.id, event: eventId, department, login, person, request }
  return {
    organization,
    account,
    eventId,
    department,
    /** One of every operation, for what needs no state. */
    every: everyRequest(subject),
    /** One of every operation, and what makes it one that succeeds when this admin sends it: others have to be granted the account and the department. */
    ready: (asker: World.Person) =>
      all.map((operation) => ({
        id: operation.id,
        operation,
        request: succeeding(operation, subject, { asker, organization: organization.id })
      }))
  }
})
