import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../domain/accounts/Account.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import { Db } from "../../../ports/Db.ts"
import { type AccountTask, AccountTasks } from "../../../ports/protection/AccountTasks.ts"
import type { SecretsOf } from "../../../ports/security/Secrets.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Slots from "./Slots.ts"

type Row = Pick<AccountTask, "due_at" | "kind" | "tries"> & {
  readonly organization_id: string
  readonly account_id: string
}

/** The tasks in SQL. */
export const layer = Layer.effect(
  AccountTasks,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const db = yield* Db
    const row = ({ accountId, organizationId }: SecretsOf, kind: AccountTask["kind"]) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId} and kind = ${kind}`
    return AccountTasks.of({
      add: ({ accountId, organizationId }, kind, dueAt) =>
        post(sql`
          insert into account_task (organization_id, account_id, kind, due_at)
          values (${organizationId}, ${accountId}, ${kind}, ${dueAt})
          on conflict (organization_id, account_id, kind) do update set due_at = excluded.due_at, tries = 0`),
      due: (slots, limit, now) =>
        Effect.map(
          Tenant.ask<Row>(
            sql,
            `select organization_id, account_id, kind, account_task.due_at, tries
            from account_task join monitor using (organization_id, account_id)
            where account_task.due_at <= $1 ${Slots.filter(slots, "and monitor.slot", 3)}
            order by account_task.due_at limit $2`,
            [now, limit, ...Slots.values(slots)]
          ),
          (rows) =>
            rows.map(({ account_id, due_at, kind, organization_id, tries }): AccountTask => ({
              organizationId: OrganizationId.make(organization_id),
              accountId: AccountId.make(account_id),
              kind,
              due_at,
              tries
            }))
        ),
      take: (task, until) =>
        db.transaction(
          task.organizationId,
          Effect.map(
            Effect.orDie(sql`
              update account_task set due_at = ${until}, tries = tries + 1
              where ${row(task, task.kind)} and due_at = ${task.due_at} returning kind`),
            (taken) => taken.length > 0
          )
        ),
      drop: (of, kind) => post(sql`delete from account_task where ${row(of, kind)}`)
    })
  })
)
