/**
 * I11: an admin, and a caller with a limit, comes to reach nothing but what it has connected itself, and hands out no
 * more.
 */
import { Arbitrary, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { type Role, Scope } from "../../../src/domain/people/Access.ts"
import { sampled } from "../drawn.ts"
import * as Logins from "../logins/logins.ts"
import * as Random from "../random.ts"
import { answerOf } from "./answers.ts"
import { keepOpen, password, spoken } from "./logins.ts"
import { rewind } from "./rewind.ts"
import { give, type Rights, some } from "./rights.ts"
import { type Credential, type Member, type Stage } from "./stage.ts"

const places = [0, 1, 2, 3, 4, 5]

const limits: Arbitrary.Arbitrary<NonNullable<Rights["limit"]>> = Random.oneOf<NonNullable<Rights["limit"]>>(
  Arbitrary.map(some(places), (chosen) => ({ by: "accounts", places: chosen })),
  Arbitrary.map(some([0, 1]), (chosen) => ({ by: "departments", places: chosen })),
  Arbitrary.Constant({ by: "departments", places: [0] })
)

/** An admin, or an application of an admin of any role that reaches some accounts or departments. */
const callers: Arbitrary.Arbitrary<Rights> = Arbitrary.flatMap(
  Random.pickOf<Role>("admin", "admin", "superadmin", "owner"),
  (role) =>
    Arbitrary.all({
      role: Arbitrary.Constant(role),
      scopes: Random.oneOf<ReadonlyArray<Scope>>(
        Arbitrary.Constant(Scope.literals),
        Arbitrary.Constant(Scope.literals),
        Arbitrary.map(some(Scope.literals), (scopes) => ["org:read", ...scopes.filter((scope) => scope !== "org:read")])
      ),
      accounts: some(places),
      departments: some([0, 1]),
      limit: role === "admin" ? Random.oneOf<Rights["limit"]>(Arbitrary.Constant(null), limits) : limits,
      readOnly: Arbitrary.Constant(false)
    })
)

/** A login, step by step. */
const connecting: Arbitrary.Arbitrary<ReadonlyArray<Random.Draft>> = Arbitrary.map(
  Arbitrary.all({
    start: Random.draftsOfIds("start_account_connect", "start_account_connect", "start_account_relogin"),
    code: Random.draftsOfIds("submit_login_code"),
    password: Random.draftsOfIds("submit_login_password")
  }),
  ({ code, password, start: { members: { role_label: _, ...members }, operation } }) => [
    { operation, members },
    code,
    password
  ]
)
const moving = Random.draftsOfIds(
  "set_account_department",
  "create_department",
  "delete_department",
  "offboard_account"
)
const handing = Random.draftsOfIds(
  "set_admin_access",
  "set_admin_access",
  "set_admin_role",
  "enable_admin",
  "invite_admin",
  "create_api_key"
)

/** What a superadmin does before, and what the caller does then. */
export const sequences = Arbitrary.all({
  rights: callers,
  before: Arbitrary.array(
    Random.draftsOfIds("offboard_account", "offboard_account", "disable_admin", "set_account_department"),
    { minLength: 1, maxLength: 3 }
  ),
  acts: Arbitrary.map(
    Arbitrary.array(
      Random.oneOf<ReadonlyArray<Random.Draft>>(
        connecting,
        Arbitrary.map(Random.oneOf(moving, handing, handing, Random.everyDraft), (draft) => [draft])
      ),
      { minLength: 2, maxLength: 6 }
    ),
    (groups) => groups.flat()
  )
})

const sample = () => Arbitrary.sampleEffect(sequences, sampled(1))
type Sequence = Effect.Success<ReturnType<typeof sample>>[number]

type Pairs = ReadonlySet<string>

/** Who else reaches which account, and which whole department, as `admin object`. */
const others = ({ overseer }: Stage, { id }: Member) =>
  Effect.promise(async (): Promise<Pairs> => {
    const { rows } = await overseer.query<{ pair: string }>(
      `with present as (
        select * from admin where organization_id = $1 and removed_at is null and disabled_at is null
      ), granted as (
        select admin_department.* from admin_department join present on present.id = admin_id
        where role in ('admin', 'archive') and admin_department.organization_id = $1
      )
      select present.id || ' ' || account.id as pair from present join account on account.organization_id = $1
      where role in ('owner', 'superadmin', 'billing') or exists (
        select from admin_account where admin_id = present.id and account_id = account.id)
      union select admin_id || ' ' || account.id from granted join account
        on account.organization_id = $1 and account.department_id = granted.department_id
      union select admin_id || ' ' || department_id from granted`,
      [id]
    )
    return new Set(rows.map(({ pair }) => pair))
  })

const accountsOf = ({ overseer }: Stage, { id }: Member) =>
  Effect.promise(async (): Promise<ReadonlyArray<string>> => {
    const { rows } = await overseer.query<{ id: string }>("select id from account where organization_id = $1", [id])
    return rows.map((row) => row.id)
  })

/** The accounts that the caller is shown, in the list or one by one; `known` ones are not asked for. */
const reached = Effect.fnUntraced(function*(
  stage: Stage,
  member: Member,
  credential: Credential,
  known: ReadonlySet<string>
) {
  const ask = (operation: string, members: Random.Draft["members"]) =>
    answerOf(Random.draw({ operation, members }, Random.noIds), "rest", credential)
  const list = yield* ask("list_protected_accounts", { limit: 100 })
  if (!list.done) return yield* Effect.die(new Error(`The list is refused: ${JSON.stringify(list)}`))
  const { data } = list.body as { readonly data: ReadonlyArray<{ readonly id: string }> }
  const shown = new Set(data.map(({ id }) => id))
  for (const account_id of yield* accountsOf(stage, member)) {
    if (shown.has(account_id) || known.has(account_id)) continue
    if ((yield* ask("get_account", { account_id })).done) shown.add(account_id)
  }
  return shown
})

/** The departments that the caller can access whole, all that a limit or a grant names. */
const departmentsOf = ({ ids }: Member, { departments, limit, role }: Rights): ReadonlySet<string> => {
  const granted = role === "admin" ? departments : places
  const chosen = limit === null ? granted : limit.by === "departments" ? limit.places : []
  return new Set(chosen.flatMap((place) => granted.includes(place) ? ids.department[place] ?? [] : []))
}

const logins = (body: unknown): ReadonlyArray<string> => {
  const { id, object } = body as { readonly id?: unknown; readonly object?: unknown }
  return object === "login" && typeof id === "string" ? [id] : []
}

/**
 * Plays a sequence, and looks after each act at what the caller can access and what others do; counts what was
 * connected.
 */
export const compare = Effect.fnUntraced(function*(stage: Stage, sequence: Sequence) {
  const [member] = stage.members
  const { acts, before, rights } = sequence
  if (member === undefined) return { requests: 0, comparisons: 0, connected: 0, handed: 0 }
  yield* rewind(stage.overseer)
  const holder = rights.role === "admin" ? "admin" : "owner"
  const credential = yield* give(stage, member, holder, rights, "rest")
  const own = member.admins[holder].id
  const people = [yield* Logins.meet(), yield* Logins.meet({ security: { two_fa_password: Redacted.make(password) } })]
  const phones = [...people.map(({ phone }) => phone), ...member.live.map(({ phone }) => `+${phone}`)]
  const disabled: Array<string> = []
  for (const [index, draft] of before.entries()) {
    yield* TestClock.setTime(stage.startsAt + 1000 * (index + 1))
    const request = Random.draw(draft, { ...member.ids, account: member.live.map(({ id }) => id) })
    const answer = yield* Random.send(request, member.admins.superadmin.key)
    if (draft.operation === "disable_admin" && answer.status === 200) disabled.push(String(request.input["admin_id"]))
  }
  let ids = { ...member.ids, person: [...member.ids.person, own, ...disabled, ...disabled, ...disabled] }
  const old = new Set(yield* accountsOf(stage, member))
  const reach = new Set([
    ...(yield* reached(stage, member, credential, new Set())),
    ...departmentsOf(member, rights)
  ])
  const reachedBefore = yield* others(stage, member)
  let last: { readonly shown: ReadonlySet<string>; readonly others: Pairs } = { shown: reach, others: reachedBefore }
  for (const [index, draft] of acts.entries()) {
    yield* TestClock.setTime(stage.startsAt + 20_000 * (index + 1))
    const request = Random.draw(spoken(draft, phones), ids)
    const answer = yield* answerOf(request, "rest", credential)
    const described = () => JSON.stringify({ rights, acts: acts.slice(0, index + 1), request: request.input, answer })
    if (answer.status >= 500) throw new Error(`A request fails: ${described()}`)
    if (answer.done && logins(answer.body).length > 0) {
      ids = { ...ids, login: logins(answer.body) }
      yield* Effect.promise(() => keepOpen(stage.overseer))
    }
    // What is refused changes nothing; what it would change is seen after the next act.
    if (!answer.done && index < acts.length - 1) continue
    const mayReach = (object: string) => reach.has(object) || !old.has(object)
    const shown = yield* reached(stage, member, credential, reach)
    const more = [...shown].filter((account) => !mayReach(account))
    if (more.length > 0) throw new Error(`I11: it comes to reach ${more.join()}: ${described()}`)
    const after = yield* others(stage, member)
    const handed = [...after].filter((pair) => !reachedBefore.has(pair)).filter((pair) => {
      const [admin = "", object = ""] = pair.split(" ")
      const isDepartment = ids.department.includes(object)
      return isDepartment ? !reach.has(object) : admin !== own && !mayReach(object)
    })
    if (handed.length > 0) {
      throw new Error(`I11: it hands out what it does not reach: ${handed.join("; ")}: ${described()}`)
    }
    last = { shown, others: after }
  }
  return {
    requests: before.length + acts.length,
    comparisons: acts.length,
    connected: [...last.shown].filter((account) => !old.has(account)).length,
    handed: [...last.others].filter((pair) => !reachedBefore.has(pair) && !pair.startsWith(own)).length
  }
})
