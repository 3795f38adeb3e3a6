/** The simulated platform's state in the database. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SessionEnd } from "../../../domain/messenger/Messenger.ts"
import { PlatformUnavailable } from "../../../ports/messenger/MessengerSession.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { usernameKey } from "./PlatformRules.ts"
import { callsKept, type HeldAccount, type PlatformCall, ScriptedAnswer } from "./SimulatedPlatform.ts"
import {
  type SimulatedAccount,
  type SimulatedAuthorization,
  type SimulatedLogin,
  SimulatedStore,
  type StoredScript
} from "./SimulatedStore.ts"

const AnswerText = Schema.fromJsonString(ScriptedAnswer)
const decodeAnswer = Schema.decodeSync(AnswerText)
const encodeAnswer = Schema.encodeSync(AnswerText)

const accountTexts = ["first_name", "last_name", "about", "two_fa_hint"] as const
const deviceTexts = ["device_model", "platform", "app_name", "app_version", "ip", "country"] as const

/** The first character of a text that the database could not hold as it is. */
const mark = "\u0001"

const keep = (text: string): string =>
  text.startsWith(mark) || text.includes("\u0000") || !text.isWellFormed() ? mark + JSON.stringify(text) : text

const read = (text: string): string =>
  text.startsWith(mark) ? Schema.decodeSync(Schema.fromJsonString(Schema.String))(text.slice(1)) : text

/** Keeps texts as they were written, U+0000 and lone surrogates among them, or reads them again. */
const keptTexts = <K extends string, A extends Readonly<Record<K, string | null>>>(
  row: A,
  names: ReadonlyArray<K>,
  change: (text: string) => string
): A => ({
  ...row,
  ...Object.fromEntries(names.map((name) => {
    const text = row[name]
    return [name, text === null ? null : change(text)]
  }))
})

/** The row that is found, with its texts as they were written; null where there is none. */
const found = <K extends string, A extends Readonly<Record<K, string | null>>, E>(
  rows: Effect.Effect<ReadonlyArray<A>, E>,
  names: ReadonlyArray<K>
): Effect.Effect<A | null> =>
  rows.pipe(Effect.map(([row]) => row === undefined ? null : keptTexts(row, names, read)), Effect.orDie)

/** Keeps the state in the tables `simulated_*`, which only the tables' owner reads. */
export const layer = Layer.effect(
  SimulatedStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const nextNumber = sql<{ number: number }>`select nextval('simulated_number')::int as number`.pipe(
      Effect.flatMap(([row]) =>
        row === undefined ? Effect.die(new Error("The sequence is empty.")) : Effect.succeed(row.number)
      ),
      Effect.orDie
    )

    /** Adds the row, or replaces the one with its key. */
    const save = (table: string, key: string, row: Readonly<Record<string, unknown>>) =>
      sql`insert into ${sql(table)} ${sql.insert(row)} on conflict (${sql(key)}) do update set ${
        sql.csv(Object.keys(row).map((name) => sql`${sql(name)} = excluded.${sql(name)}`))
      }`.pipe(Effect.orDie, Effect.asVoid)

    return SimulatedStore.of({
      exclusively: (effect) =>
        sql`select id from simulated_platform for update`.pipe(
          Effect.orDie,
          Effect.andThen(effect),
          sql.withTransaction,
          Effect.catchTag("SqlError", Effect.die)
        ),
      reached: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.catchCause(effect, (cause): Effect.Effect<never, E | PlatformUnavailable> =>
          Tenant.isAwayIn(cause)
            ? Effect.andThen(
              Effect.logWarning("The simulated platform is away with its database"),
              Effect.fail(new PlatformUnavailable())
            )
            : Effect.failCause(cause)),
      outsideTransaction: Effect.flatMap(
        Effect.serviceOption(sql.transactionService),
        (transaction) =>
          Option.isNone(transaction)
            ? Effect.void
            : Effect.die(new Error("The messenger is called inside a database transaction."))
      ),
      nextNumber,
      authorizationOf: (sessionRef) =>
        found(
          sql<SimulatedAuthorization>`select * from simulated_authorization where session_ref = ${sessionRef}`,
          deviceTexts
        ),
      account: (userId) =>
        found(sql<SimulatedAccount>`select * from simulated_account where user_id = ${userId}`, accountTexts),
      usernameHolder: (username) =>
        sql<Pick<SimulatedAccount, "user_id">>`
          select user_id from simulated_account where lower(username collate "C") = ${usernameKey(username)}
        `.pipe(
          Effect.map(([row]) => row?.user_id ?? null),
          Effect.orDie
        ),
      saveAccount: (account) =>
        save("simulated_account", "user_id", {
          ...keptTexts(account, accountTexts, keep),
          email_codes: JSON.stringify(account.email_codes)
        }),
      authorizations: (userId) =>
        sql<SimulatedAuthorization>`
          select * from simulated_authorization where user_id = ${userId}
          order by signed_in_at desc, id collate "C"
        `.pipe(Effect.map((rows) => rows.map((row) => keptTexts(row, deviceTexts, read))), Effect.orDie),
      saveAuthorization: (authorization) =>
        save("simulated_authorization", "id", { ...keptTexts(authorization, deviceTexts, keep) }),
      endAuthorizations: Effect.fnUntraced(
        function*(authorizations, reason) {
          if (authorizations.length === 0) return
          yield* sql`delete from simulated_authorization where ${sql.in("id", authorizations.map(({ id }) => id))}`
          for (const { session_ref } of authorizations) {
            if (session_ref === null) continue
            yield* sql`insert into simulated_ended_session ${sql.insert({ session_ref, reason })}
              on conflict (session_ref) do update set reason = excluded.reason`
          }
        },
        Effect.orDie
      ),
      accountOfPhone: (phone) =>
        found(sql<SimulatedAccount>`select * from simulated_account where phone = ${phone}`, accountTexts),
      login: (sessionRef) =>
        sql<SimulatedLogin>`select * from simulated_login where session_ref = ${sessionRef}`.pipe(
          Sql.one,
          Effect.orDie
        ),
      saveLogin: (login) => save("simulated_login", "session_ref", { ...login }),
      endLogin: (sessionRef) =>
        sql`delete from simulated_login where session_ref = ${sessionRef}`.pipe(Effect.orDie, Effect.asVoid),
      logins: (now) =>
        sql<SimulatedLogin>`select * from simulated_login where expires_at > ${now} order by sent_at, session_ref`.pipe(
          Effect.orDie
        ),
      withEmailCodes: sql<Pick<SimulatedAccount, "email_codes" | "phone">>`
        select phone, email_codes from simulated_account where email_codes <> '{}' order by phone
      `.pipe(Effect.orDie),
      ended: (sessionRef) =>
        sql<{ reason: SessionEnd }>`select reason from simulated_ended_session where session_ref = ${sessionRef}`.pipe(
          Effect.map(([row]) => row?.reason ?? null),
          Effect.orDie
        ),
      connected: sql<HeldAccount>`
        select user_id as "userId", phone, count(*) filter (where unconfirmed)::int as unconfirmed
        from simulated_authorization join simulated_account using (user_id)
        where not frozen and not unreachable
        group by user_id, phone having bool_or(session_ref is not null)
        order by user_id collate "C"
      `.pipe(Effect.orDie),
      isForSale: (username) =>
        sql`select 1 from simulated_username_for_sale where username_key = ${usernameKey(username)}`.pipe(
          Sql.exists,
          Effect.orDie
        ),
      offerForSale: (username) =>
        sql`
          insert into simulated_username_for_sale (username_key) values (${usernameKey(username)})
          on conflict do nothing
        `.pipe(Effect.orDie, Effect.asVoid),
      addScript: ({ answer, operation, remaining, user_id }) =>
        Effect.flatMap(
          nextNumber,
          (number) =>
            sql`insert into simulated_script ${
              sql.insert({ number, user_id, operation, answer: encodeAnswer(answer), remaining })
            }`
        ).pipe(Effect.orDie, Effect.asVoid),
      nextScript: (userId, operation) =>
        sql<Omit<StoredScript, "answer"> & { readonly answer: string }>`
          select * from simulated_script
          where (user_id is null or user_id = ${userId}::text) and (operation is null or operation = ${operation})
          order by number
          limit 1
        `.pipe(
          Effect.map(([row]) => row === undefined ? null : { ...row, answer: decodeAnswer(row.answer) }),
          Effect.orDie
        ),
      useScript: ({ number, remaining }) =>
        (remaining > 1
          ? sql`update simulated_script set remaining = remaining - 1 where number = ${number}`
          : sql`delete from simulated_script where number = ${number}`).pipe(Effect.orDie, Effect.asVoid),
      clearScripts: sql`delete from simulated_script`.pipe(Effect.orDie, Effect.asVoid),
      addCall: (call) =>
        Effect.gen(function*() {
          const number = yield* nextNumber
          yield* sql`insert into simulated_call ${sql.insert({ number, ...call })}`
          if (number % callsKept === 0) {
            yield* sql`
              delete from simulated_call where number < (
                select number from simulated_call order by number desc offset ${callsKept - 1} limit 1
              )
            `
          }
        }).pipe(Effect.orDie),
      calls: sql<PlatformCall>`
        select user_id, operation, at from (
          select * from simulated_call order by number desc limit ${callsKept}
        ) latest
        order by number
      `.pipe(Effect.orDie)
    })
  })
)
