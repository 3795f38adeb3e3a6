/**
 * Logins in the sequences of the properties: people whom nobody has connected, and logins that wait for their next
 * step.
 */
import { Effect, Redacted } from "effect"
import type { Client } from "pg"
import * as Logins from "../logins/logins.ts"
import type * as Populated from "../populated.ts"
import type * as Random from "../random.ts"

/** The 2FA password of whoever has one. */
export const password = "horse staple"
const code = "5-code"

/** Starts one login that waits for its code and one that waits for the password; answers them and all numbers. */
export const begin = Effect.fnUntraced(function*({ admins }: Populated.Populated) {
  const mine = Logins.actor(admins.owner.key)
  const [coded, asked, other] = [
    yield* Logins.meet(),
    yield* Logins.meet({ security: { two_fa_password: Redacted.make(password) } }),
    yield* Logins.meet()
  ]
  const first = yield* mine.connect(coded.phone)
  const second = yield* mine.connect(asked.phone)
  const entered = yield* mine.code(second.body.id, yield* asked.code)
  if (entered.body.state !== "password_needed") return yield* Effect.die(new Error(Logins.summaryOf(entered)))
  return {
    logins: [String(first.body.id), String(second.body.id)],
    phones: [coded.phone, asked.phone, other.phone]
  }
})

/** Has them open for ten minutes of the sequences, with a code that is known. */
export const keepOpen = (overseer: Client) =>
  overseer.query(`update login set created_at = '2026-01-05T23:59:00Z', resend_at = '2026-01-06T00:00:03Z',
      expires_at = '2026-01-06T00:10:00Z' where state in ('code_sent', 'password_needed');
    update simulated_login set code = '${code}', sent_at = '2026-01-05T23:59:00Z',
      resend_at = '2026-01-06T00:00:03Z', expires_at = '2026-01-06T00:10:00Z'`)

/** One of the values, the same one for the same text. */
const chosen = (values: ReadonlyArray<string>, by: string) =>
  values[[...by].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % values.length]

/** The draft with numbers of the organization's own people, and with codes and passwords that are often right. */
export const spoken = (draft: Random.Draft, phones: ReadonlyArray<string>): Random.Draft => {
  const known: Readonly<Record<string, ReadonlyArray<string>>> = {
    phone_number: phones,
    code: draft.operation === "submit_login_code" ? [code, code, "000-00"] : [],
    password: [password, password, "wrong"]
  }
  return {
    ...draft,
    members: Object.fromEntries(
      Object.entries(draft.members).map(([name, value]) => {
        const values = known[name] ?? []
        return [name, typeof value === "string" && values.length > 0 ? chosen(values, value) : value]
      })
    )
  }
}
