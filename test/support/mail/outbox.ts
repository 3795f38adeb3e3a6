/** What an organization's outbox holds, opened. */
import { Effect, Redacted, Schema } from "effect"
import { Letter, plainText } from "../../../src/domain/mail/Letter.ts"
import { Vault } from "../../../src/layers/crypto/Vault.ts"
import { sealedFor } from "../../../src/layers/sql/mail/Outbox.ts"
import * as World from "../world.ts"

interface Row {
  readonly id: string
  readonly cause: string
  readonly kind: string
  readonly recipient: string
  readonly letter_sealed: string
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Letter))

/** The mails that wait, oldest first. */
export const waiting = Effect.fnUntraced(function*(organizationId: string) {
  const vault = yield* Vault
  const rows = yield* World.query<Row>(
    organizationId,
    (sql) =>
      sql`select id, cause, kind, recipient, letter_sealed from mail
        where organization_id = ${organizationId} and next_at is not null order by created_at, id, recipient`
  )
  return yield* Effect.forEach(
    rows,
    ({ id, letter_sealed, ...row }) =>
      Effect.map(vault.open(letter_sealed, sealedFor(organizationId, id)), (opened) => {
        const letter = decode(Redacted.value(opened))
        return { ...row, subject: letter.subject, text: plainText(letter) }
      })
  )
})
