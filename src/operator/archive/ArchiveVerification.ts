/** An operator's verification of an organization's archive, to its end. */
import { Effect, Schema } from "effect"
import { verify } from "../../archive/Verification.ts"
import { readPlace } from "../../domain/archive/Verification.ts"
import { Db } from "../../ports/Db.ts"
import { existing } from "../Journaled.ts"
import { useCase } from "../UseCase.ts"

const Found = Schema.Struct({
  organization: Schema.String,
  /** Nothing is missing, changed, added or unproven. */
  ok: Schema.Boolean,
  pages: Schema.Int,
  missing: Schema.Int,
  changed: Schema.Int,
  added: Schema.Int,
  unproven: Schema.Int,
  not_covered: Schema.Int,
  /** The newest signed checkpoint, where it covers every manifest. */
  checkpoint: Schema.NullOr(Schema.Int)
})

export const verifyArchive = useCase(
  "archive_verify",
  Schema.Struct({ organization: Schema.String }),
  Found,
  ({ organization }) =>
    Effect.gen(function*() {
      const organizationId = yield* existing(organization)
      const db = yield* Db
      const sums = { pages: 0, missing: 0, changed: 0, added: 0, unproven: 0, not_covered: 0 }
      let place = readPlace("r.0")
      let checkpoint: number | null = null
      let isSigned = true
      while (place !== null) {
        const found = yield* db.read(organizationId, verify(organizationId, null, place))
        sums.pages += found.pages
        sums.missing += found.missing
        sums.changed += found.changed
        sums.added += found.added
        sums.unproven += found.unproven
        sums.not_covered += found.not_covered
        isSigned &&= found.checkpoint !== null
        checkpoint = found.checkpoint?.number ?? null
        place = found.cursor === null ? null : readPlace(found.cursor)
      }
      const ok = sums.missing + sums.changed + sums.added + sums.unproven === 0
      return { organization, ok, ...sums, checkpoint: isSigned ? checkpoint : null }
    })
)
