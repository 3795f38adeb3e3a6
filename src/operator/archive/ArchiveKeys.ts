/** An operator's setting of an organization's archive password. */
import { Effect, Schema } from "effect"
import { setArchiveKey } from "../../archive/KeyChanges.ts"
import { operator } from "../../domain/journal/Actor.ts"
import { commandLine } from "../../domain/journal/JournalEntry.ts"
import { ArchiveKeys } from "../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../ports/Db.ts"
import { existing } from "../Journaled.ts"
import { refuse, useCase } from "../UseCase.ts"

export const setKey = useCase(
  "archive_key_set",
  Schema.Struct({
    organization: Schema.String,
    password: Schema.RedactedFromValue(Schema.String),
    /** Gives up what was archived under the key before. */
    replace: Schema.Boolean
  }),
  Schema.Struct({ organization: Schema.String, recovery_code: Schema.RedactedFromValue(Schema.String) }),
  ({ organization, password, replace }) =>
    Effect.gen(function*() {
      const organizationId = yield* existing(organization)
      const keys = yield* ArchiveKeys
      const known = yield* (yield* Db).read(organizationId, keys.current(organizationId))
      if (known !== null && !replace) {
        return yield* refuse(
          `${organization} has an archive password: its owner changes it on the page of the archive password. ` +
            "--replace makes a new key, and what is archived until now can be read no more."
        )
      }
      const changer = { organizationId, actor: operator, adminId: null, email: "", origin: commandLine }
      const recovery_code = yield* setArchiveKey(changer, password, known).pipe(
        Effect.catchTag("ArchiveKeyChanged", ({ message }) => refuse(message))
      )
      return { organization, recovery_code }
    })
)
