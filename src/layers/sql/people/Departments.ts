import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import type { Caller } from "../../../domain/people/Access.ts"
import { type DepartmentFacts, departmentKey } from "../../../domain/people/Department.ts"
import * as Ports from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { accessSources, canAccessDepartment } from "../accounts/AccountAccess.ts"

interface Cursor {
  readonly name_key: string
  readonly id: string
}

/** The departments in SQL; how many accounts each has is counted as accounts come, go and move. */
export const layer = Layer.effect(
  Ports.Departments,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom

    /** The caller's departments as `department`, each with the count of its accounts that the caller can access. */
    const ofCaller = (caller: Caller["Service"]): Statement.Fragment => {
      const sources = accessSources(sql, caller)
      if (sources === null) return sql`department`
      const none = sql`select null::uuid where false`
      return sql`(
        with whole as materialized (select department_id from (${
        sources.departments ?? none
      }) as granted (department_id)),
        single as materialized (
          select department_id, count(*)::integer as accounts
          from (${sources.accounts ?? none}) as source (account_id)
          join account on account.organization_id = ${caller.organizationId} and account.id = source.account_id
          where department_id is not null group by department_id
        )
        select department.organization_id, department.id, name, name_key, created_at,
          case when whole.department_id is null then single.accounts else department.accounts end as accounts
        from department
        left join whole on whole.department_id = department.id
        left join single on single.department_id = department.id
        where department.organization_id = ${caller.organizationId}
          and coalesce(whole.department_id, single.department_id) is not null
      ) as department`
    }

    const lockOrganization = (organizationId: string) =>
      post(sql`select 1 from organization where id = ${organizationId} for no key update`)

    const show = (caller: Caller["Service"], id: string) =>
      sql<DepartmentFacts>`
        select department.id, name, coalesce((
          select accounts from ${ofCaller(caller)}
          where department.organization_id = ${caller.organizationId} and department.id = ${id}), 0) as accounts,
          created_at
        from department where department.organization_id = ${caller.organizationId} and department.id = ${id}`

    return Ports.Departments.of({
      list: Effect.fnUntraced(function*(caller, { after, limit }) {
        const mine = sql`department.organization_id = ${caller.organizationId}`
        const [cursor] = after === undefined ? [] : yield* sql<Cursor>`
          select name_key, id from ${ofCaller(caller)} where ${mine} and department.id = ${after}`
        if (after !== undefined && cursor === undefined) return null
        const further = cursor === undefined
          ? sql`true`
          : sql`(name_key, department.id) > (${cursor.name_key}, ${cursor.id}::uuid)`
        return yield* sql<DepartmentFacts>`
          select department.id, name, accounts, created_at from ${ofCaller(caller)}
          where ${mine} and ${further} order by name_key, department.id limit ${sql.literal(String(limit + 1))}`
      }, Effect.orDie),

      find: (caller, id) => Effect.map(Effect.orDie(show(caller, id)), ([found]) => found ?? null),

      create: Effect.fnUntraced(function*(organizationId, name, now) {
        yield* lockOrganization(organizationId)
        const [made] = yield* sql<DepartmentFacts>`insert into department ${
          sql.insert({
            organization_id: organizationId,
            id: yield* random.uuidV7(),
            name,
            name_key: departmentKey(name),
            created_at: now
          })
        } on conflict do nothing returning id, name, accounts, created_at`
        return made ?? null
      }, Effect.orDie),

      lock: Effect.fnUntraced(function*(caller, id) {
        yield* lockOrganization(caller.organizationId)
        yield* post(
          sql`select 1 from department where organization_id = ${caller.organizationId} and id = ${id} for update`
        )
        const [found] = yield* show(caller, id)
        return found ?? null
      }, Effect.orDie),

      rename: (organizationId, id, name) =>
        sql`
          update department set name = ${name}, name_key = ${departmentKey(name)}
          where organization_id = ${organizationId} and id = ${id} and not exists (
            select 1 from department other
            where other.organization_id = ${organizationId} and other.name_key = ${departmentKey(name)}
              and other.id <> ${id})
          returning id`.pipe(Effect.orDie, Effect.map((rows) => rows.length === 1)),

      remove: (organizationId, id, now) =>
        sql`
          with gone as (
          delete from department
          where organization_id = ${organizationId} and id = ${id}
            and not exists (
              select 1 from account where account.organization_id = ${organizationId} and department_id = ${id})
            and not exists (
              select 1 from admin_department where organization_id = ${organizationId} and department_id = ${id})
            and not exists (
              select 1 from login
              where login.organization_id = ${organizationId} and login.department_id = ${id}
                and state in ('code_sent', 'password_needed'))
            and not exists (
              select 1 from ai_connection_department chosen
              join ai_connection on ai_connection.organization_id = chosen.organization_id
                and ai_connection.id = chosen.connection_id
              where chosen.organization_id = ${organizationId} and chosen.department_id = ${id}
                and revoked_at is null and (expires_at is null or expires_at > ${now}))
          returning id
          ), rules as (
            delete from archive_rule
            where organization_id = ${organizationId} and level = 'department' and target in (select id from gone)
          )
          select id from gone`.pipe(Effect.orDie, Effect.map((rows) => rows.length === 1)),

      lockMove: Effect.fnUntraced(function*(caller, from, to) {
        const { organizationId } = caller
        yield* post(sql`
          select 1 from department
          where organization_id = ${organizationId} and id = any(${[from, to].filter((id) => id !== null)}::uuid[])
          order by id for no key update`)
        if (to === null) return { shown: true, accessible: true }
        const [found] = yield* sql<{ readonly shown: boolean; readonly accessible: boolean }>`
          select exists (
              select 1 from ${ofCaller(caller)}
              where department.organization_id = ${organizationId} and department.id = ${to}) as shown,
            exists (
              select 1 from department
              where department.organization_id = ${organizationId} and department.id = ${to}
                and ${canAccessDepartment(sql, caller)}) as accessible`
        return found ?? { shown: false, accessible: false }
      }, Effect.orDie)
    })
  })
)
