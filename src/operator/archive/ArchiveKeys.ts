/** An operator's setting of an organization's archive password, or of a key that was made elsewhere. */
import { Effect, Schema } from "effect"
import { setArchiveKey, storeKey } from "../../archive/KeyChanges.ts"
import { acceptKey } from "../../archive/OwnKeys.ts"
import { OwnKey } from "../../domain/archive/OwnKey.ts"
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
    /** Null where the key is given, whose password the service never has. */
    password: Schema.NullOr(Schema.RedactedFromValue(Schema.String)),
    key: Schema.NullOr(OwnKey),
    /** Gives up what was archived under the key before. */
    replace: Schema.Boolean
  }),
  Schema.Struct({ organization: Schema.String, recovery_code: Schema.NullOr(Schema.RedactedFromValue(Schema.String)) }),
  ({ key, organization, password, replace }) =>
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
      if (key !== null) {
        yield* storeKey(changer, yield* acceptKey(organizationId, key), known, "key_file")
        return { organization, recovery_code: null }
      }
      if (password === null) return yield* refuse("An archive password or the file of a key is needed.")
      return { organization, recovery_code: yield* setArchiveKey(changer, password, known) }
    })
)
