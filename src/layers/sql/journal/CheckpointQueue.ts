import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CheckpointQueue, type PushCursor } from "../../../ports/journal/CheckpointQueue.ts"
import * as Gauge from "../../Gauge.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { Targets } from "../../push/Targets.ts"
import * as Checkpoints from "./Checkpoints.ts"

/** The queue of the `Targets`. */
export const layer = Layer.effect(
  CheckpointQueue,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const clock = yield* Clock.Clock
    const targets = yield* Targets
    const oldest = new Map<string, number>()
    for (const { name } of targets) {
      yield* Gauge.show(
        "console_checkpoint_push_lag_seconds",
        "Age of the oldest checkpoint that the target has not taken",
        () => {
          const now = clock.currentTimeMillisUnsafe()
          return Math.max(0, now - (oldest.get(name) ?? now)) / 1000
        },
        { target: name }
      )
    }
    return {
      targets,

      take: Effect.fnUntraced(
        function*(name, now, until, limit) {
          yield* sql`insert into journal_push (target, number, failures, free_at) values (${name}, 0, 0, ${now})
            on conflict do nothing`
          const cursor = yield* Sql.one(sql<PushCursor>`
            select number, failures from journal_push
            where target = ${name} and free_at <= ${now} for update skip locked`)
          if (cursor === null) return null
          const checkpoints = yield* Effect.provideService(
            Checkpoints.after(cursor.number, limit),
            SqlClient.SqlClient,
            sql
          )
          if (checkpoints.length > 0) yield* sql`update journal_push set free_at = ${until} where target = ${name}`
          return { cursor, checkpoints }
        },
        (taken) => Tenant.directory(sql)(sql.withTransaction(taken))
      ),

      giveBack: (name, until, { failures, number }, freeAt) =>
        Effect.asVoid(
          Tenant.directory(sql)(sql`
          update journal_push set number = ${number}, failures = ${failures}, free_at = ${freeAt}
          where target = ${name} and free_at = ${until}`)
        ),

      measure: (name) =>
        Effect.map(
          Tenant.directory(sql)(Sql.one(sql<{ at: Date }>`
            select at from journal_checkpoint
            where number > coalesce((select number from journal_push where target = ${name}), 0)
            order by number limit 1`)),
          (waiting) => {
            if (waiting === null) oldest.delete(name)
            else oldest.set(name, waiting.at.getTime())
          }
        )
    }
  })
)
