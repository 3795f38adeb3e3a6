/**
 * Keys that are made in the owner's browser: what its script is given, and the storing of what it sends.
 *
 * The wraps are given out with the page. One under the password is in the reach of the owner's session already, by
 * `get_archive_keys`, as of every reader who opens the archive elsewhere; the one under a recovery code of 256 bits can
 * be guessed by nobody. Passwords that are tried in the browser are not seen here, and so not counted; what is sent for a
 * key that there is must have been opened, which a token shows that is sealed to it.
 */
import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { ArchiveKeyChanged, type KeyChanger, storeKey, storeWraps } from "../../../archive/KeyChanges.ts"
import { sealToken } from "../../../archive/KeyPossession.ts"
import { acceptKey, acceptWraps } from "../../../archive/OwnKeys.ts"
import { journalWrongPassword } from "../../../archive/WrongPasswords.ts"
import { toBase64 } from "../../../domain/archive/Bytes.ts"
import { decodeOwnKey, wrapJson } from "../../../domain/archive/OwnKey.ts"
import { ParameterInvalid, PasswordIncorrect, TooManyAttempts } from "../../../domain/Failure.ts"
import { Caller } from "../../../domain/people/Access.ts"
import { parameterInvalid } from "../../../kernel/Refusals.ts"
import { ArchiveAttempts } from "../../../ports/archive/ArchiveAttempts.ts"
import { PasswordDerivation } from "../../../ports/archive/ArchiveCrypto.ts"
import { type ArchiveKey, ArchiveKeys } from "../../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../../ports/Db.ts"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import * as RequestLog from "../../../transport/RequestLog.ts"
import * as StrictJson from "../../../transport/StrictJson.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Refused from "../kit/RefusedForms.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as StepUp from "../signin/StepUp.ts"
import { type BrowserPart, isLossAccepted, type KeyForm, lossRefused, type Secret } from "./ArchiveKeyForm.ts"
import * as Scripts from "./ViewerScripts.ts"

/** The text that the token of an opened key is bound to. */
const openedText = ({ keyId, wrapId }: Pick<ArchiveKey, "keyId" | "wrapId">): string =>
  `archive key opened ${keyId} ${wrapId}`

/** The key that a form opens, as its worker takes it; null where it has no wrap for the secret. */
const knownKey = Effect.fnUntraced(function*(view: AdminPage, secret: Secret, key: ArchiveKey) {
  const keys = yield* ArchiveKeys
  const wrap = yield* (yield* Db).read(key.organizationId, keys.wrap(key, secret.kind))
  return wrap === null ? null : {
    keyId: key.keyId,
    wrapId: key.wrapId,
    publicKey: toBase64(key.publicKey),
    kind: secret.kind,
    wrong: secret.wrong,
    wrap: wrapJson(wrap),
    token: yield* sealToken(key, view.csrf(openedText(key)))
  }
})

/** The script of a form's page, and the facts that it needs; null where the key has nothing that the form could open. */
export const partOf = Effect.fnUntraced(function*(view: AdminPage, { secret }: KeyForm, key: ArchiveKey | null) {
  const { email, organizationId } = view.admin
  const opens = key !== null && secret !== undefined
  const known = opens ? yield* knownKey(view, secret, key) : null
  if (opens && known === null) return null
  const scripts = yield* Scripts.key(view.visit.site.baseUrl)
  const { cost } = yield* PasswordDerivation
  const facts = JSON.stringify({ organizationId, email, cost, known })
  return { ...scripts, facts, seen: key?.wrapId ?? "" } satisfies BrowserPart
})

/** True if the form was handled in the browser. */
export const isFrom = (form: SentForm.Form): boolean => form.text("key") !== ""

const read = Effect.fnUntraced(function*(text: string) {
  const { duplicate, value } = yield* Effect.try({
    try: () => StrictJson.read(text),
    catch: () => new ParameterInvalid({ param: "key", message: "key: is not JSON." })
  })
  if (duplicate !== undefined) {
    return yield* new ParameterInvalid({ param: duplicate, message: `key: ${JSON.stringify(duplicate)} occurs twice.` })
  }
  const decoded = decodeOwnKey(value)
  return yield* Result.isSuccess(decoded) ? Effect.succeed(decoded.success) : parameterInvalid(decoded.failure.issue)
})

/** Fails unless the browser has opened the key; nobody but a forger of requests gets this far without. */
const checkOpened = Effect.fnUntraced(function*(view: AdminPage, key: ArchiveKey, seen: string, form: SentForm.Form) {
  const sessions = yield* ConsoleSessions
  const text = openedText({ keyId: key.keyId, wrapId: seen })
  if (sessions.verifyCsrf(view.admin.sessionId, text, form.text("opened"))) return
  const caller = yield* Caller
  yield* (yield* ArchiveAttempts).count(caller)
  yield* journalWrongPassword(caller)
  return yield* new Refused.FieldRefused({
    field: "secret",
    message: "The archive's key was not opened. Load the page again.",
    status: 403,
    code: "archive_password_invalid"
  })
})

const changed = () =>
  new ArchiveKeyChanged({ message: "The archive's key was changed meanwhile. Load the page again." })

/** Stores the key, or the other wraps, of a form whose sender has given the console password and the second factor. */
const store = Effect.fnUntraced(
  function*(view: AdminPage, keyForm: KeyForm, key: ArchiveKey | null, form: SentForm.Form, changer: KeyChanger) {
    if (!isLossAccepted(keyForm, form)) {
      return yield* new Refused.FieldRefused({
        field: "lost",
        message: lossRefused,
        status: 400,
        code: "not_confirmed"
      })
    }
    const own = yield* read(form.text("key"))
    const seen = form.text("seen")
    if (keyForm.name === "set") {
      return yield* storeKey(changer, yield* acceptKey(changer.organizationId, own), null, "browser")
    }
    if (key === null) return yield* changed()
    const known = { keyId: key.keyId, wrapId: seen }
    if (keyForm.secret === undefined) {
      return yield* storeKey(changer, yield* acceptKey(changer.organizationId, own), known, "browser")
    }
    yield* checkOpened(view, key, seen, form)
    yield* storeWraps(changer, yield* acceptWraps(key, own), known, keyForm.secret.kind, "browser")
  }
)

/** The field of the form that a refusal is about; empty for none. */
const fieldOf = (failure: unknown): string =>
  failure instanceof StepUp.StepUpRefused
    ? StepUp.fieldId
    : failure instanceof Refused.FieldRefused
    ? failure.field
    : failure instanceof PasswordIncorrect || failure instanceof TooManyAttempts
    ? "password"
    : ""

const json = (body: object, status: number, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { ...headers, "cache-control": "no-store" } })

/** The answer to the script: that it is stored, or the field at fault with the reason. */
export const answer = <E, R>(
  view: AdminPage,
  keyForm: KeyForm,
  key: ArchiveKey | null,
  form: SentForm.Form,
  changer: KeyChanger,
  checked: Effect.Effect<void, E, R>
) =>
  checked.pipe(
    Effect.andThen(store(view, keyForm, key, form, changer)),
    Effect.as(json({ stored: true }, 200)),
    Effect.catch((failure) => {
      if (failure instanceof ArchiveKeyChanged) {
        return Effect.succeed(json({ field: "", message: failure.message }, 409))
      }
      const { code, headers, problem, status } = Refused.of(failure)
      return Effect.as(
        RequestLog.noteFailure(code),
        json({ field: fieldOf(failure), message: problem }, status, headers)
      )
    })
  )
