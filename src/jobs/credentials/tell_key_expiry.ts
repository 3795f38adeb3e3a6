import { Duration, Effect } from "effect"
import { byService, record } from "../../changes/Record.ts"
import { apiKeyExpires } from "../../domain/mail/index.ts"
import { after, before, now } from "../../domain/Moments.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { type ExpiringKey, KeyExpiry } from "../../ports/credentials/KeyExpiry.ts"
import { Outbox } from "../../ports/mail/Outbox.ts"
import { changeDue } from "../Batch.ts"
import * as Job from "../Job.ts"

/** The time before its end that the admin of a key is mailed; no mail is sent for a key that is younger than that. */
const notice = Duration.days(7)

const keysPerRun = 500

/** Journals the end of the key, or mails that it comes. */
const report = Effect.fnUntraced(function*(organizationId: OrganizationId, key: ExpiringKey) {
  const { admin_id, ended, expires_at, id, label } = key
  if (ended) {
    const details = { label, expired_at: expires_at.toISOString() }
    return yield* record(byService(organizationId), "api_key.expired", { id }, details)
  }
  const letter = apiKeyExpires({ adminId: admin_id, label, expiresAt: expires_at })
  yield* (yield* Outbox).add(organizationId, `api_key/${id}`, letter)
})

/** The number of keys that were reported, each once when it ends within a week and once when it has ended. */
const run = Effect.gen(function*() {
  const expiry = yield* KeyExpiry
  const at = yield* now
  const due = yield* expiry.due({ now: at, soon: after(at, notice), age: before(at, notice) }, keysPerRun)
  return yield* changeDue(
    due,
    Effect.fnUntraced(function*(organizationId, ids) {
      const keys = yield* expiry.hold(organizationId, ids, at)
      for (const key of keys) {
        yield* expiry.setReported(organizationId, key)
        yield* report(organizationId, key)
      }
      return keys.length
    })
  )
})

/** Rows that another process has locked are skipped. */
export const tellKeyExpiry = Job.make("tell_key_expiry", {
  period: "1 minute",
  does: "mails admins whose API keys end within 7 days, and journals keys that have ended",
  run
})
