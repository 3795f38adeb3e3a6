/** The simulated platform behind a data centre: its world, asked and told in the platform's own protocol. */
import { Effect, Exit, Redacted, Scope, Stream } from "effect"
import * as crypto from "node:crypto"
import { AuthorizationId, type MessengerUserId, type Profile, SessionRef } from "../../../src/domain/Messenger.ts"
import type { SecurityChange } from "../../../src/layers/messenger/SimulatedPlatform.ts"
import type { SealedLoginState } from "../../../src/ports/MessengerLogin.ts"
import type { LiveSession, MessengerSession } from "../../../src/ports/MessengerSession.ts"
import * as DataCentre from "./DataCentre.ts"
import * as Passkeys from "./Passkeys.ts"
import * as Proofs from "./Proofs.ts"
import { authorizationOf, configOf, type Failure, seconds, sentCode, updateOf, userOf, worded } from "./Said.ts"
import type { Word } from "./Words.ts"

/** A 2FA password: what proves it, and what the simulated platform knows it as. */
interface Password {
  readonly verifier: Proofs.Verifier
  readonly known: Redacted.Redacted
}

/** What belongs to a client's key. */
interface Kept {
  login?: { readonly ref: SessionRef; state: SealedLoginState; readonly phone: string; wantsPassword: boolean }
  ref?: SessionRef
  userId?: MessengerUserId
  live?: { readonly session: Promise<LiveSession>; readonly scope: Scope.Closeable }
  challenge?: Proofs.Challenge
  offer?: Buffer
  /** Another data centre has the account that let it in. */
  moves?: { readonly home: number; readonly ref: SessionRef; readonly userId: MessengerUserId }
}

const refuse = (code: number, text: string): never => {
  throw new DataCentre.Refusal(code, text)
}

type Handlers = Readonly<Record<string, (key: DataCentre.Key, request: Word) => Promise<DataCentre.Answer>>>

/** Data centres in front of the simulated platform, and that platform's outside world with what the wire adds. */
export const start = Effect.fnUntraced(function*(
  messenger: MessengerSession["Service"],
  count = 1
) {
  const context = yield* Effect.context<never>()
  const passwords = new Map<string, Password>()
  const addresses = new Map<string, string>()
  /** How often a password of an account was set from outside: it has other salts each time. */
  const turns = new Map<string, number>()
  /** The data centres that have the numbers' accounts; of others whichever is asked. */
  const homes = new Map<string, number>()
  const kept = (key: DataCentre.Key): Kept => key.of

  const now = Effect.clockWith((clock) => clock.currentTimeMillis)

  /** Runs what the simulated platform is asked; its failure is a refusal. */
  const ask = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
    const answer = await Effect.runPromiseWith(context)(Effect.result(effect))
    if (answer._tag === "Success") return answer.success
    return refuse(...worded(answer.failure as Failure))
  }

  /** A login whose answer was lost may have signed in. */
  const resolved = async (key: DataCentre.Key): Promise<void> => {
    const { login, ref } = kept(key)
    if (ref !== undefined || login === undefined) return
    const connected = await ask(messenger.resolve(login.state))
    if (connected !== null) Object.assign(key.of, { ref: login.ref, userId: connected.userId })
  }

  const live = async (key: DataCentre.Key): Promise<LiveSession> => {
    await resolved(key)
    const own = kept(key)
    const { ref } = own
    if (ref === undefined) {
      return Promise.reject(
        own.login?.wantsPassword === true
          ? new DataCentre.Refusal(401, "SESSION_PASSWORD_NEEDED")
          : new DataCentre.Refusal(401, "AUTH_KEY_UNREGISTERED")
      )
    }
    if (own.live === undefined) {
      const scope = Scope.makeUnsafe()
      const session = ask(Scope.provide(messenger.open(ref), scope)).then((opened) => {
        const pushed = Stream.runForEach(opened.events, (event) =>
          Effect.map(now, (millis) => {
            const update = updateOf(event, Math.floor(millis / 1000))
            if (update !== null) { for (const centre of centres) centre.push(key, update) }
          }))
        Effect.runForkWith(context)(Scope.provide(Effect.forkScoped(pushed), scope))
        return opened
      })
      own.live = { session, scope }
      session.catch(() => delete own.live)
    }
    return own.live.session
  }

  const gone = (key: DataCentre.Key): void => {
    const own = kept(key)
    if (own.live === undefined) return
    Effect.runForkWith(context)(Scope.close(own.live.scope, Exit.void))
    delete own.live
  }

  const profile = async (key: DataCentre.Key): Promise<Profile> => ask((await live(key)).profile)

  const signedIn = async (key: DataCentre.Key, ref: SessionRef, userId: MessengerUserId): Promise<Word> => {
    Object.assign(key.of, { ref, userId })
    delete kept(key).login
    return { _: "auth.authorization", user: { _: "user", self: true, id: Number(userId) } }
  }

  /** Whose password a key is about: that of whoever is signed in, or is about to be. */
  const passwordOf = async (key: DataCentre.Key): Promise<Password | undefined> => {
    const { login, userId } = kept(key)
    if (userId !== undefined) return passwords.get(userId)
    return login === undefined ? undefined : passwords.get(`+${login.phone}`)
  }

  const proves = async (key: DataCentre.Key, proof: Word): Promise<Password | null> => {
    const own = kept(key)
    const password = await passwordOf(key)
    const { challenge } = own
    delete own.challenge
    if (password === undefined) return refuse(400, "PASSWORD_EMPTY")
    if (challenge === undefined || proof["srpId"]?.equals(challenge.id) !== true) return refuse(400, "SRP_ID_INVALID")
    return Proofs.isProof(password.verifier, challenge, proof) ? password : null
  }

  const remember = (userId: MessengerUserId, phone: string | undefined, password: Password | null): void => {
    for (const name of [userId, ...(phone === undefined ? [] : [`+${phone}`])]) {
      if (password === null) passwords.delete(name)
      else passwords.set(name, password)
    }
  }

  const handlers = (here: number): Handlers => ({
    ...Passkeys.handlers({ ask, live }),
    "help.getConfig": async () => configOf(here, centres.map(({ port }) => port)),
    "updates.getState": async (key) => {
      await live(key)
      return { _: "updates.state", pts: 1, qts: 0, date: Math.floor(Date.now() / 1000), seq: 0, unreadCount: 0 }
    },
    "auth.sendCode": async (key, { phoneNumber }) => {
      const phone = String(phoneNumber)
      const home = homes.get(phone.replace("+", "")) ?? here
      if (home !== here) return refuse(303, `PHONE_MIGRATE_${home}`)
      const ref = SessionRef.make(`wire-${key.id}`)
      const sent = await ask(messenger.begin(ref, phone.startsWith("+") ? phone : `+${phone}`))
      kept(key).login = { ref, state: sent.state, phone: phone.replace("+", ""), wantsPassword: false }
      return sentCode(sent, await ask(now))
    },
    "auth.resendCode": async (key) => {
      const { login } = kept(key)
      if (login === undefined) return refuse(400, "PHONE_CODE_EXPIRED")
      const sent = await ask(messenger.resend(login.state))
      login.state = sent.state
      return sentCode(sent, await ask(now))
    },
    "auth.cancelCode": async (key) => {
      const { login } = kept(key)
      if (login === undefined) return refuse(400, "PHONE_CODE_EXPIRED")
      await ask(messenger.cancel(login.state))
      delete kept(key).login
      return true
    },
    "auth.signIn": async (key, { phoneCode }) => {
      const { login } = kept(key)
      if (login === undefined) return refuse(400, "PHONE_CODE_EXPIRED")
      const step = await ask(messenger.submitCode(login.state, Redacted.make(String(phoneCode))))
      if (step._tag === "Connected") return signedIn(key, login.ref, step.userId)
      login.state = step.state
      login.wantsPassword = true
      key.of["hint"] = step.hint
      return refuse(401, "SESSION_PASSWORD_NEEDED")
    },
    "auth.checkPassword": async (key, { password }) => {
      const { login } = kept(key)
      if (login === undefined) return refuse(400, "PHONE_CODE_EXPIRED")
      const proved = await proves(key, password)
      const known = proved?.known ?? Redacted.make("no such password")
      const { userId } = await ask(messenger.submitPassword(login.state, known))
      return signedIn(key, login.ref, userId)
    },
    "auth.logOut": async (key) => {
      const { login } = kept(key)
      if (login === undefined) await ask((await live(key)).logOut)
      else await ask(messenger.cancel(login.state))
      for (const name of ["login", "ref", "userId"]) delete key.of[name]
      return { _: "auth.loggedOut" }
    },
    "users.getUsers": async (key) => [userOf(await profile(key))],
    "users.getFullUser": async (key) => {
      const own = await profile(key)
      return {
        _: "users.userFull",
        fullUser: {
          _: "userFull",
          id: Number(own.user_id),
          about: own.about ?? undefined,
          settings: { _: "peerSettings" },
          notifySettings: { _: "peerNotifySettings" },
          commonChatsCount: 0
        },
        chats: [],
        users: [userOf(own)]
      }
    },
    "account.updateProfile": async (key, { about, firstName, lastName }) =>
      userOf(
        await ask((await live(key)).updateProfile({
          ...(about === undefined ? {} : { about }),
          ...(firstName === undefined ? {} : { first_name: firstName }),
          ...(lastName === undefined ? {} : { last_name: lastName })
        }))
      ),
    "account.updateUsername": async (key, { username }) =>
      userOf(await ask((await live(key)).setUsername(username === "" ? null : username))),
    "account.getAuthorizations": async (key) => ({
      _: "account.authorizations",
      authorizationTtlDays: 180,
      authorizations: (await ask((await live(key)).authorizations)).map(authorizationOf)
    }),
    "account.resetAuthorization": async (key, { hash }) => {
      await ask((await live(key)).signOut(AuthorizationId.make(hash.toString())))
      return true
    },
    "account.changeAuthorizationSettings": async (key, { hash }) => {
      await ask((await live(key)).confirm(AuthorizationId.make(hash.toString())))
      return true
    },
    "account.getPassword": async (key) => {
      const password = await passwordOf(key)
      const { login } = kept(key)
      const security = login === undefined ? await ask((await live(key)).security(nothingHeld)) : null
      const present = security === null ? password !== undefined : security.two_fa_present === true
      const challenge = present && password !== undefined ? Proofs.challenge(password.verifier) : undefined
      if (challenge !== undefined) kept(key).challenge = challenge
      return {
        _: "account.password",
        hasPassword: challenge !== undefined,
        hasRecovery: security?.has_recovery === true,
        ...(challenge === undefined || password === undefined
          ? {}
          : {
            currentAlgo: Proofs.algorithm(password.verifier.salt1, password.verifier.salt2),
            srpB: Proofs.offeredBytes(challenge),
            srpId: challenge.id
          }),
        ...(key.of["hint"] === undefined || key.of["hint"] === null ? {} : { hint: key.of["hint"] }),
        emailUnconfirmedPattern: security?.recovery_pending_pattern ?? undefined,
        loginEmailPattern: security?.login_email_pattern ?? undefined,
        pendingResetDate: seconds(security?.reset_at ?? null) || undefined,
        newAlgo: Proofs.algorithm(crypto.randomBytes(8), crypto.randomBytes(16)),
        newSecureAlgo: { _: "securePasswordKdfAlgoSHA512", salt: crypto.randomBytes(8) },
        secureRandom: crypto.randomBytes(256)
      }
    },
    "account.getPasswordSettings": async (key, { password }) => {
      const proved = await proves(key, password)
      if (proved === null) return refuse(400, "PASSWORD_HASH_INVALID")
      const held = { twoFaPasswords: [proved.known], passkeyIds: [] }
      const { recovery_email_pattern } = await ask((await live(key)).security(held))
      return {
        _: "account.passwordSettings",
        ...(recovery_email_pattern === null
          ? {}
          : { email: addresses.get(kept(key).userId!) ?? recovery_email_pattern })
      }
    },
    "account.updatePasswordSettings": async (key, { newSettings, password }) => {
      const session = await live(key)
      const { userId } = kept(key)
      const current = password._ === "inputCheckPasswordEmpty" ? null : await proves(key, password)
      if (password._ !== "inputCheckPasswordEmpty" && current === null) return refuse(400, "PASSWORD_HASH_INVALID")
      const known = current?.known ?? null
      const { email } = newSettings
      if (known !== null && email === "") {
        await ask(session.removeRecoveryEmail(known))
        return true
      }
      if (known !== null && email !== undefined) {
        const { codeLength } = await ask(session.setRecoveryEmail({ current: known, email }))
        addresses.set(userId!, email)
        return refuse(400, `EMAIL_UNCONFIRMED_${codeLength}`)
      }
      const { phone } = await ask(session.profile)
      if (newSettings.newAlgo._ === "passwordKdfAlgoUnknown") {
        if (known !== null) await ask(session.removePassword(known))
        remember(userId!, phone ?? undefined, null)
        return true
      }
      const { salt1, salt2 } = newSettings.newAlgo
      const value = Buffer.from(newSettings.newPasswordHash)
      const next = Redacted.make(`verified by ${value.toString("hex")}`)
      await ask(session.setPassword({ current: known, next }))
      const verifier = { salt1, salt2, value: BigInt(`0x${value.toString("hex")}`) }
      remember(userId!, phone ?? undefined, { verifier, known: next })
      return true
    },
    "account.confirmPasswordEmail": async (key, { code }) => {
      await ask((await live(key)).confirmRecoveryEmail(Redacted.make(String(code))))
      return true
    },
    "account.cancelPasswordEmail": async (key) => {
      await ask((await live(key)).cancelRecoveryEmail)
      return true
    },
    "account.sendVerifyEmailCode": async (key, { email }) => {
      const { codeLength, pattern } = await ask((await live(key)).startLoginEmail(email))
      return { _: "account.sentEmailCode", emailPattern: pattern, length: codeLength }
    },
    "account.verifyEmail": async (key, { verification }) => {
      await ask((await live(key)).confirmLoginEmail(Redacted.make(String(verification.code))))
      return { _: "account.emailVerified", email: "" }
    },
    "auth.exportLoginToken": async (key) => {
      const own = kept(key)
      if (own.moves !== undefined) return { _: "auth.loginTokenMigrateTo", dcId: own.moves.home, token: own.offer }
      if (own.ref !== undefined) return offerTaken(key)
      own.offer ??= crypto.randomBytes(32)
      return { _: "auth.loginToken", expires: Math.floor(Date.now() / 1000) + 30, token: own.offer }
    },
    "auth.importLoginToken": async (key, { token }) => {
      const { moves } = kept(offering(token) ?? refuse(400, "AUTH_TOKEN_INVALID"))
      if (moves?.home !== here) return refuse(400, "AUTH_TOKEN_INVALID")
      Object.assign(key.of, { ref: moves.ref, userId: moves.userId })
      return offerTaken(key)
    },
    "auth.acceptLoginToken": async (key, { token }) => {
      const other = offering(token)
      if (other === undefined) return refuse(400, "AUTH_TOKEN_INVALIDX")
      if (kept(other).ref !== undefined || kept(other).moves !== undefined) {
        return refuse(400, "AUTH_TOKEN_ALREADY_ACCEPTED")
      }
      const session = await live(key)
      const ref = SessionRef.make(`wire-${other.id}`)
      const password = await passwordOf(key)
      const paired = await ask(session.pair(ref, password?.known ?? null))
      const signedIn = { ref, userId: kept(key).userId! }
      if (centres[here - 1]!.keys.has(other.id)) Object.assign(other.of, signedIn)
      else kept(other).moves = { ...signedIn, home: here }
      const listed = (await ask(session.authorizations)).find(({ id }) => id === paired.seenAs)
      return listed === undefined ? refuse(500, "INTERNAL") : authorizationOf(listed)
    }
  })

  const offering = (token: Buffer) =>
    centres.flatMap(({ keys }) => [...keys.values()]).find((one) => kept(one).offer?.equals(token) === true)

  const offerTaken = async (key: DataCentre.Key): Promise<Word> => ({
    _: "auth.loginTokenSuccess",
    authorization: { _: "auth.authorization", user: userOf(await profile(key)) }
  })

  const centres: Array<DataCentre.DataCentre> = []
  for (let here = 1; here <= count; here++) {
    const answers = handlers(here)
    centres.push(
      yield* Effect.acquireRelease(
        Effect.promise(() =>
          DataCentre.start({
            answer: (key, request) => answers[request._]?.(key, request) ?? Promise.reject(refusal(request)),
            gone
          })
        ),
        (started) => Effect.promise(() => started.close())
      )
    )
  }

  const changed = (userId: MessengerUserId, phone: string | undefined, change: SecurityChange): void => {
    const { recovery_email, two_fa_password } = change
    if (typeof recovery_email === "string") addresses.set(userId, recovery_email)
    if (two_fa_password === undefined) return
    const turn = turns.get(userId) ?? 0
    turns.set(userId, turn + 1)
    remember(
      userId,
      phone,
      two_fa_password === null
        ? null
        : { verifier: Proofs.verifierOf(Redacted.value(two_fa_password), turn), known: two_fa_password }
    )
  }

  return { centres, homes, changed }
})

const refusal = (request: Word) => new DataCentre.Refusal(400, `METHOD_INVALID ${request._}`)

const nothingHeld = { twoFaPasswords: [], passkeyIds: [] }
