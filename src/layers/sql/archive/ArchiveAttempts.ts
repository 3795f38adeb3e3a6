/** The archive passwords that were tried in the last hour, by credential, admin and organization. */
import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TooManyAttempts } from "../../../domain/Failure.ts"
import {
  archiveOpenedLately,
  archivePasswordPeriod,
  archivePasswordsOfAdmin,
  archivePasswordsOfCredential,
  archivePasswordsOfOrganization
} from "../../../domain/Limits.ts"
import type { Caller, OrganizationId } from "../../../domain/people/Access.ts"
import { ArchiveAttempts } from "../../../ports/archive/ArchiveAttempts.ts"
import { Db } from "../../../ports/Db.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const period = Duration.toMillis(archivePasswordPeriod)
const lately = Duration.toMillis(archiveOpenedLately)

/** The subject of an organization's own count: no credential has an empty id. */
const everybody = ""

const subjectOfAdmin = ({ adminId }: Pick<Caller["Service"], "adminId">) => `admin ${adminId}`

/** The most of each subject, in the order in which all lock them. */
const limits = (caller: Caller["Service"], hasOpened: boolean) => {
  const shared = (most: number) => hasOpened ? 2 ** 31 - 1 : most
  return [
    [everybody, shared(archivePasswordsOfOrganization)],
    [subjectOfAdmin(caller), shared(archivePasswordsOfAdmin)],
    [caller.credential.id, archivePasswordsOfCredential]
  ] as const
}

export const layer = Layer.effect(
  ArchiveAttempts,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const db = yield* Db

    /** Counts an attempt; fails with the time of the oldest one where there were as many as there may be. */
    const countOne = Effect.fnUntraced(function*(
      organizationId: OrganizationId,
      subject: string,
      most: number,
      now: number
    ) {
      const since = new Date(now - period)
      const at = new Date(now)
      const counted = yield* Effect.orDie(sql`
        insert into archive_attempt as kept (organization_id, subject, times, last_at)
        values (${organizationId}, ${subject}, array[${at}::timestamptz(3)], ${at})
        on conflict (organization_id, subject) do update set
          times = array(select at from unnest(kept.times) as at where at > ${since}) || excluded.times,
          last_at = excluded.last_at
        where (select count(*) from unnest(kept.times) as at where at > ${since}) < ${most}
        returning subject`)
      if (counted.length > 0) return
      const [oldest] = yield* Effect.orDie(sql<{ at: Date }>`
        select min(at) as at from archive_attempt, unnest(times) as at
        where organization_id = ${organizationId} and subject = ${subject} and at > ${since}`)
      const waits = (oldest?.at.getTime() ?? now) + period - now
      const retry_after = Math.max(1, Math.ceil(waits / 1000))
      return yield* new TooManyAttempts({
        retry_after,
        message: `Too many wrong archive passwords: wait ${retry_after} s.`
      })
    })

    /** The organization's own row is locked first, as by every count, so that none waits for another. */
    const takeBack = ({ adminId, credential, organizationId }: Caller["Service"]) =>
      Effect.orDie(Effect.andThen(
        sql`
          select 1 from archive_attempt
          where organization_id = ${organizationId} and subject = ${everybody} for update`,
        sql`
          update archive_attempt set times = times[1:cardinality(times) - 1]
          where organization_id = ${organizationId}
            and subject in (${everybody}, ${subjectOfAdmin({ adminId })}, ${credential.id})`
      ))

    return ArchiveAttempts.of({
      count: Effect.fnUntraced(function*(caller) {
        const { credential, organizationId } = caller
        const now = yield* Clock.currentTimeMillis
        yield* db.transaction(
          organizationId,
          Effect.gen(function*() {
            const opened = yield* Effect.orDie(sql`
              select 1 from archive_attempt
              where organization_id = ${organizationId} and subject = ${credential.id}
                and opened_at > ${new Date(now - lately)}`)
            for (const [subject, most] of limits(caller, opened.length > 0)) {
              yield* countOne(organizationId, subject, most, now)
            }
          })
        )
      }),

      takeBack: (caller) => db.transaction(caller.organizationId, Effect.asVoid(takeBack(caller))),

      opened: Effect.fnUntraced(function*(caller) {
        const { credential, organizationId } = caller
        const at = new Date(yield* Clock.currentTimeMillis)
        const keep = Effect.orDie(sql`
          update archive_attempt set opened_at = ${at}
          where organization_id = ${organizationId} and subject = ${credential.id}`)
        yield* db.transaction(organizationId, Effect.andThen(takeBack(caller), keep))
      })
    })
  })
)

/** Forgets the attempts that count no more, and the credentials that have not opened the archive lately. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(sql`
    delete from archive_attempt
    where last_at <= ${new Date(now - period)} and (opened_at is null or opened_at <= ${new Date(now - lately)})`)
})
