/** Who may less is shown and permitted no more, and what is revoked is refused from the next request on. */
import { Arbitrary, Effect } from "effect"
import { TestClock } from "effect/testing"
import { sampled } from "../drawn.ts"
import * as Random from "../random.ts"
import * as World from "../world.ts"
import { type Answered, answerOf, pieces } from "./answers.ts"
import { spoken } from "./logins.ts"
import { rewind } from "./rewind.ts"
import { give, pairs, type Rights } from "./rights.ts"
import { type Credential, type Member, type Stage, vias } from "./stage.ts"

const revocations = ["operation", "disabled", "password", "expired", "endpoint"] as const

const lists: ReadonlyArray<Random.Draft> = [
  "list_protected_accounts",
  "list_journal_events",
  "list_ai_connections",
  "list_departments",
  "list_sessions",
  "get_status"
]
  .map(
    (operation) => ({ operation, members: {} })
  )

/** What another admin does before, what is asked with more rights and with less, and how the credential ends. */
export const sequences = Arbitrary.all({
  pair: pairs,
  via: Random.pickOf(...vias),
  before: Arbitrary.array(Random.oneOf(Random.drafts(Random.changes), Random.everyDraft), {
    minLength: 0,
    maxLength: 2
  }),
  drafts: Arbitrary.map(
    Arbitrary.all({ first: Random.pickOf(...lists), then: Arbitrary.array(Random.everyDraft, { maxLength: 3 }) }),
    ({ first, then }) => [first, ...then]
  ),
  revoked: Random.pickOf(...revocations)
})

const sample = () => Arbitrary.sampleEffect(sequences, sampled(1))
type Sequence = Effect.Success<ReturnType<typeof sample>>[number]

const wholePages: Readonly<Record<string, number>> = {
  list_protected_accounts: 100,
  list_journal_events: 100,
  list_departments: 100,
  list_sessions: 100,
  list_admins: 100,
  tail_journal_events: 500,
  find_accounts: 50
}

/** Whole lists, for the pages of those who see less begin elsewhere. */
const whole = (draft: Random.Draft): Random.Draft => {
  const limit = wholePages[draft.operation]
  return limit === undefined ? draft : { ...draft, members: { ...draft.members, limit } }
}

interface Played {
  readonly credential: Credential
  readonly answers: ReadonlyArray<Answered>
}

const holderOf = ({ pair }: Sequence): "owner" | "admin" => pair.more.role === "owner" ? "owner" : "admin"

const play = Effect.fnUntraced(function*(stage: Stage, member: Member, sequence: Sequence, rights: Rights) {
  const { before, drafts, via } = sequence
  yield* rewind(stage.overseer)
  const credential = yield* give(stage, member, holderOf(sequence), rights, via)
  const answers: Array<Answered> = []
  for (const [index, draft] of [...before, ...drafts].entries()) {
    yield* TestClock.setTime(stage.startsAt + 1000 * (index + 1))
    const request = Random.draw(spoken(whole(draft), member.phones), member.ids)
    if (index < before.length) yield* Random.send(request, member.admins.superadmin.key)
    else answers.push(yield* answerOf(request, via, credential, rights.readOnly))
  }
  return { credential, answers } satisfies Played
})

/** A department is in use for as long as anybody is given it, also by rights that are taken away here. */
const isInUse = ({ body }: Answered): boolean => JSON.stringify(body).includes(`"code":"department_in_use"`)

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** The counts of an answer that are higher with less. */
const higher = (less: unknown, more: unknown, path = ""): ReadonlyArray<string> =>
  typeof less === "number"
    ? less <= Number(more) ? [] : [`${path}=${less}`]
    : isObject(less)
    ? Object.entries(less).flatMap(([name, member]) =>
      higher(member, isObject(more) ? more[name] : undefined, `${path}.${name}`)
    )
    : []

/** What less is shown that more is not, where both were answered. */
const extraOf = (
  { known }: Stage,
  { pair: { less, more } }: Sequence,
  draft: Random.Draft,
  own: { readonly adminId: string; readonly objects: ReadonlySet<string> },
  answers: { readonly less: unknown; readonly more: unknown }
): ReadonlyArray<string> => {
  // It counts what is reached, and its states say what is wrong there or with the admin's own role: only the counts
  // grow.
  if (draft.operation === "get_status") return higher(answers.less, answers.more)
  const shown = pieces(answers.more, known, own.objects)
  const extra = [...pieces(answers.less, known, own.objects)].filter((piece) => !shown.has(piece))
  // The admins of one role are other ones when the role of the one who asks is changed.
  return draft.operation === "list_admins" && draft.members.role !== undefined && less.role !== more.role
    ? extra.filter((piece) => piece !== `.data(${own.adminId})`)
    : extra
}

const checkAnswers = (
  stage: Stage,
  sequence: Sequence,
  less: Played,
  more: Played,
  adminId: string
): number => {
  const { drafts, pair } = sequence
  const own = { adminId, objects: new Set([less.credential.id, more.credential.id, adminId]) }
  let compared = 0
  for (const [index, permitted] of less.answers.entries()) {
    const fuller = more.answers[index]
    const draft = drafts[index]
    if (fuller === undefined || draft === undefined) break
    compared += 1
    const described = JSON.stringify({ pair, draft, permitted, fuller })
    if (permitted.status >= 500 || fuller.status >= 500) throw new Error(`A request fails: ${described}`)
    if (permitted.done && !fuller.done && !isInUse(fuller)) throw new Error(`Less permits more: ${described}`)
    if (permitted.done && fuller.done) {
      const extra = extraOf(stage, sequence, draft, own, { less: permitted.body, more: fuller.body })
      if (extra.length > 0) throw new Error(`Less shows more: ${extra.join("; ")}: ${described}`)
    }
    // From here on the two have changed different things.
    if (permitted.done !== fuller.done) break
  }
  return compared
}

const revoke = Effect.fnUntraced(function*(
  stage: Stage,
  member: Member,
  { pair, revoked }: Sequence,
  holder: "owner" | "admin",
  credential: Credential
) {
  const { limit } = pair.more
  const disable = () =>
    stage.overseer.query("update admin set disabled_at = '2026-01-06' where organization_id = $1 and id = $2", [
      member.id,
      member.admins[holder].id
    ])
  const sendDelete = () =>
    World.send("DELETE", `/v1/${limit === null ? "api-keys" : "ai-connections"}/${credential.id}`, {
      key: member.admins.superadmin.key
    })
  if (revoked === "expired") {
    yield* Effect.promise(() =>
      stage.overseer.query("update api_key set expires_at = '2026-01-06T00:30:00Z' where id = $1", [credential.id])
    )
    return yield* TestClock.setTime(stage.startsAt + (limit === null ? 1_800_000 : 3_600_000))
  }
  if (revoked === "password" && limit === null) {
    return yield* Effect.promise(() =>
      stage.overseer.query(
        "update admin set password_changed_at = '2026-01-06' where organization_id = $1 and id = $2",
        [member.id, member.admins[holder].id]
      )
    )
  }
  if (revoked === "endpoint" && limit !== null) {
    return yield* revokeAtEndpoint(stage, credential)
  }
  return revoked === "disabled" ? yield* Effect.promise(disable) : yield* sendDelete()
})

/** As the application itself does (RFC 7009). */
const revokeAtEndpoint = Effect.fnUntraced(function*(stage: Stage, credential: Credential) {
  const { rows } = yield* Effect.promise(() =>
    stage.overseer.query<{ client_id: string }>("select client_id from ai_connection where id = $1", [credential.id])
  )
  return yield* World.send("POST", "/oauth/revoke", {
    raw: new URLSearchParams({ client_id: rows[0]?.client_id ?? "", token: String(credential.secret) }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" }
  })
})

const checkRefused = Effect.fnUntraced(function*(
  member: Member,
  { drafts, revoked, via }: Sequence,
  credential: Credential
) {
  for (const draft of drafts.slice(0, 1)) {
    const answer = yield* answerOf(Random.draw(spoken(draft, member.phones), member.ids), via, credential)
    if (answer.status !== 401) throw new Error(`Revoked by ${revoked}, and answers ${JSON.stringify(answer)}`)
  }
})

/** Plays a sequence with less and with more, compares them, revokes the credential and asks again. */
export const compare = Effect.fnUntraced(function*(stage: Stage, sequence: Sequence) {
  const [member] = stage.members
  if (member === undefined) return { requests: 0, comparisons: 0 }
  const less = yield* play(stage, member, sequence, sequence.pair.less)
  const more = yield* play(stage, member, sequence, sequence.pair.more)
  const comparisons = checkAnswers(stage, sequence, less, more, member.admins[holderOf(sequence)].id)
  if (more.answers.some(({ status }) => status === 401)) throw new Error("A credential that works answers 401")
  yield* revoke(stage, member, sequence, holderOf(sequence), more.credential)
  yield* checkRefused(member, sequence, more.credential)
  return {
    requests: 2 * (sequence.before.length + sequence.drafts.length) + 1,
    comparisons: comparisons + 1
  }
})
