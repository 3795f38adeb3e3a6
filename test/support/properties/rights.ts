/** What an admin and a credential may do, and everything of it that can be taken away. */
import { Arbitrary, Effect } from "effect"
import { Role, Scope } from "../../../src/domain/people/Access.ts"
import * as Random from "../random.ts"
import type { Credential, Kind, Member, Stage, Via } from "./stage.ts"

export interface Rights {
  readonly role: Role
  readonly scopes: ReadonlyArray<Scope>
  /** Which accounts and departments are granted to the admin, by their places. */
  readonly accounts: ReadonlyArray<number>
  readonly departments: ReadonlyArray<number>
  /** What the credential is limited to; a key is to nothing. */
  readonly limit: { readonly by: "accounts" | "departments"; readonly places: ReadonlyArray<number> } | null
  /** Over MCP, whether the client has asked to read alone. */
  readonly readOnly: boolean
}

/** The roles below each, with the same grants. */
export const below: Readonly<Record<Role, ReadonlyArray<Role>>> = {
  owner: ["superadmin"],
  superadmin: ["admin", "billing", "archive"],
  admin: ["archive"],
  billing: [],
  archive: []
}

const flag = Random.pickOf(true, false)

/** Some of the values. */
export const some = <A>(values: ReadonlyArray<A>): Arbitrary.Arbitrary<ReadonlyArray<A>> =>
  Arbitrary.map(Arbitrary.all(values.map(() => flag)), (flags) => values.filter((_, index) => flags[index]))

/** All of the values as often as some. */
export const most = <A>(values: ReadonlyArray<A>) => Random.oneOf(Arbitrary.Constant(values), some(values))

/** Some of the values, and none as often. */
const fewest = <A>(values: ReadonlyArray<A>) => Random.oneOf(Arbitrary.Constant([]), some(values), some(values))

const places = [0, 1, 2, 3, 4, 5]

const limits: Arbitrary.Arbitrary<Rights["limit"]> = Random.oneOf<Rights["limit"]>(
  Arbitrary.Constant(null),
  Arbitrary.map(most(places), (places) => ({ by: "accounts", places })),
  Arbitrary.map(most([0, 1]), (places) => ({ by: "departments", places }))
)

const rights: Arbitrary.Arbitrary<Rights> = Arbitrary.all({
  role: Random.pickOf(...Role.literals),
  scopes: most(Scope.literals),
  accounts: most(places),
  departments: some([0, 1]),
  limit: limits,
  readOnly: Arbitrary.Constant(false)
})

const narrower = ({ limit }: Rights): Arbitrary.Arbitrary<Rights["limit"]> =>
  limit === null ? limits : Arbitrary.map(fewest(limit.places), (places) => ({ ...limit, places }))

/** Rights, and the same with something taken away. */
export const pairs = Arbitrary.flatMap(rights, (more) => {
  const without = <K extends keyof Rights>(key: K, values: Arbitrary.Arbitrary<Rights[K]>) =>
    Arbitrary.map(values, (value): Rights => ({ ...more, [key]: value }))
  return Arbitrary.map(
    Random.oneOf(
      without("scopes", some(more.scopes)),
      without("accounts", fewest(more.accounts)),
      without("departments", fewest(more.departments)),
      without("limit", narrower(more)),
      without("readOnly", Arbitrary.Constant(true)),
      ...below[more.role].map((role) => Arbitrary.Constant({ ...more, role }))
    ),
    (less) => ({ more, less })
  )
})

const kindOf = ({ limit }: Rights): Kind => limit === null ? "key" : limit.by

/** Gives the admin who is an owner, or else the one who is an admin, exactly these rights; answers the credential. */
export const give = (
  stage: Stage,
  member: Member,
  holder: "owner" | "admin",
  rights: Rights,
  via: Via
): Effect.Effect<Credential> =>
  Effect.promise(async () => {
    const { id, ids } = member
    const admin = member.admins[holder].id
    const credential = member.credentials[holder](kindOf(rights), via)
    const of = (values: ReadonlyArray<string>, chosen: ReadonlyArray<number>) =>
      chosen.flatMap((place) => values[place] ?? [])
    const say = (sql: string, ...params: ReadonlyArray<unknown>) => stage.overseer.query(sql, [id, admin, ...params])
    const key = "organization_id = $1 and admin_id = $2"
    await say("update admin set role = $3, archive_access = true where organization_id = $1 and id = $2", rights.role)
    await say(`delete from admin_account where ${key}`)
    await say(`delete from admin_department where ${key}`)
    await say(
      "insert into admin_account (organization_id, admin_id, account_id) select $1, $2, unnest($3::uuid[])",
      of(ids.account, rights.accounts)
    )
    await say(
      "insert into admin_department (organization_id, admin_id, department_id) select $1, $2, unnest($3::uuid[])",
      of(ids.department, rights.departments)
    )
    if (rights.limit === null) {
      await say(`update api_key set scopes = $3 where ${key} and id = $4`, rights.scopes, credential.id)
    } else {
      const { by, places } = rights.limit
      await say(`update ai_connection set scopes = $3 where ${key} and id = $4`, rights.scopes, credential.id)
      for (const kind of ["account", "department"] as const) {
        await say(
          `delete from ai_connection_${kind} using ai_connection where ai_connection_${kind}.organization_id = $1
            and connection_id = $3 and id = connection_id and admin_id = $2`,
          credential.id
        )
        await say(
          `insert into ai_connection_${kind} (organization_id, connection_id, ${kind}_id, place)
          select $1, ai_connection.id, listed.id, place from ai_connection, unnest($4::uuid[]) with ordinality as listed (id, place)
          where ${key} and ai_connection.id = $3`,
          credential.id,
          by === `${kind}s` ? of(ids[kind], places) : []
        )
      }
    }
    return credential
  })
