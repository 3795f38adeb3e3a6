import { describe, expect, it, layer } from "@effect/vitest"
import { Arbitrary, Effect, Redacted } from "effect"
import { Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { invitation } from "../../src/domain/mail/index.ts"
import { Role } from "../../src/domain/people/Access.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { Db } from "../../src/ports/Db.ts"
import { Journal } from "../../src/ports/journal/Journal.ts"
import { Outbox } from "../../src/ports/mail/Outbox.ts"
import * as Mcp from "../mcp/support.ts"
import * as OAuth from "../oauth/support.ts"
import * as Cli from "../support/cli/commandLine.ts"
import { sampled } from "../support/drawn.ts"
import { within } from "../support/fixtures.ts"
import * as Pages from "../support/http/pages.ts"
import * as Leaks from "../support/leaks.ts"
import * as Mails from "../support/mail/outbox.ts"
import * as Populated from "../support/populated.ts"
import { postgres } from "../support/postgres/database.ts"
import { canary, type Secrets, secured, textOf } from "../support/properties/secured.ts"
import * as Random from "../support/random.ts"
import * as HeldSecrets from "../support/security/heldSecrets.ts"
import * as World from "../support/world.ts"

/** Everything that the service is told and holds, and what it has said. */
const makeStage = Effect.gen(function*() {
  const organization = yield* Populated.make()
  const { admins, id, live } = organization
  const platform = yield* SimulatedPlatform
  const secrets: Secrets = { pepper: World.peppers, csrf: World.csrfKeys }
  const [account] = live
  if (account === undefined) return yield* Effect.die(new Error("No account"))
  secrets["two-step password"] = canary("two-step")
  yield* platform.changeSecurity(account.userId, {
    two_fa_password: Redacted.make(secrets["two-step password"]),
    passkey_id: canary("passkey"),
    login_email: "login.address.canary@example.org",
    recovery_email: "recovery.address.canary@example.net"
  })
  yield* HeldSecrets.hold(id, account.id, { password: secrets["two-step password"], passkey: "passkey-canary-kept" })
  secrets["invitation link"] = canary("link")
  const outbox = yield* Outbox
  const mail = invitation({
    adminId: admins.owner.id,
    organizationName: "Acme",
    role: "admin",
    link: Redacted.make(`https://console.test/console/invitation#${secrets["invitation link"]}`),
    expiresAt: new Date(0)
  })
  yield* within(id, outbox.add(id, "test/invitation", mail))
  expect(yield* Mails.waiting(id)).toContainEqual(
    expect.objectContaining({ text: expect.stringContaining(secrets["invitation link"]) })
  )
  secrets["login address"] = "login.address.canary"
  secrets["recovery address"] = "recovery.address.canary"
  for (const role of Role.literals) secrets[`key of ${role}`] = Redacted.value(admins[role].key)
  return { organization, account, platform, secrets }
})

/** Requests that carry a key where none belongs; `name` stands in an answer, where it names what is not known. */
const misplaced = Effect.fnUntraced(function*(key: Redacted.Redacted, account: string, secret: string) {
  const label = `/v1/accounts/${account}/role-label`
  const encoded = encodeURIComponent(secret)
  const raw = (raw: string, headers: Record<string, string> = {}) => World.send("PUT", label, { key, raw, headers })
  const basic = Buffer.from(`x:${secret}`).toString("base64")
  return [
    yield* World.get(`/v1/accounts?starting_after=${encoded}`, key),
    yield* World.get(`/v1/accounts/${encoded}`, key),
    yield* World.get(`/v1/journal?action=${encoded}`, key),
    yield* World.get(`/v1/nothing/${encoded}?key=${encoded}`, key),
    yield* World.put("/v1/settings/notifications", key, { recipients: secret }),
    yield* World.put(label, key, { role_label: { deep: [secret] } }),
    yield* World.put(label, key, { role_label: secret.repeat(3) }),
    yield* raw(`{"role_label":"${secret}`),
    yield* raw(`${secret}`),
    yield* raw("{}", { "content-type": secret }),
    yield* World.get("/v1/organization", `${secret}x`),
    yield* World.send("GET", "/v1/organization", { headers: { authorization: `Basic ${basic}` } }),
    yield* World.send("GET", "/v1/organization", {
      key,
      headers: { "x-api-key": secret, cookie: `console=${encoded}` }
    }),
    yield* World.send("GET", "/v1/organization", { key, headers: { "x-forwarded-for": secret, "user-agent": secret } }),
    yield* World.send("GET", `/v1/organization`, { key, headers: { traceparent: secret, "request-id": secret } }),
    yield* World.send("GET", "/v1/organization", { host: "elsewhere.test", headers: { referer: secret } }),
    yield* OAuth.post("/oauth/token", { grant_type: secret, client_id: secret, code: secret, refresh_token: secret }),
    yield* OAuth.post("/oauth/token", { grant_type: "refresh_token" }, { authorization: `Basic ${basic}` }),
    yield* OAuth.post("/oauth/revoke", { token: secret, client_id: crypto.randomUUID(), client_secret: secret }),
    yield* OAuth.registration({ redirect_uris: [`http://evil.example/${secret}`], client_name: `\u0000${secret}` })
  ].map(textOf)
})

/** The same for tools, and for pages. */
const misplacedElsewhere = Effect.fnUntraced(function*(key: Redacted.Redacted, account: string, secret: string) {
  const encoded = encodeURIComponent(secret)
  return [
    yield* Mcp.call("set_account_role_label", { account_id: secret, role_label: "x" }, { key }),
    yield* Mcp.call("set_account_role_label", { account_id: account, role_label: [secret] }, { key }),
    yield* Mcp.send({ key, raw: `{"${secret}` }),
    yield* Mcp.send({ key, path: `/mcp?toolsets=${encoded}`, body: Mcp.legacy("ping") }),
    yield* Mcp.send({ key: secret, body: Mcp.legacy("ping"), headers: { "mcp-session-id": secret } }),
    yield* Pages.visit("GET", `/console/developer?done=${encoded}`, { cookie: `console=${encoded}` }),
    yield* Pages.visit("POST", "/console/sign-out", {
      form: { csrf: secret },
      headers: { origin: "https://evil.example" }
    }),
    yield* Pages.visit("POST", "/console/developer/api-keys", { form: { csrf: secret, password: secret } }),
    yield* Pages.signInWith({ organization: "nobody", email: "nobody@example.org", password: secret })
  ].map(textOf)
})

/** Every operation in every role, with what the messenger refuses, and what breaks inside. */
const operations = Effect.fnUntraced(function*({ account, organization, platform }: Effect.Success<typeof makeStage>) {
  const { admins, ids } = organization
  const answers: Array<string> = []
  const step = Arbitrary.all({ role: Random.pickOf(...Role.literals), draft: Random.everyDraft })
  for (const [index, { draft, role }] of (yield* Arbitrary.sampleEffect(step, sampled(80))).entries()) {
    if (index % 40 === 0) yield* TestClock.adjust("61 seconds")
    answers.push(textOf(yield* Random.send(Random.draw(draft, ids), admins[role].key)))
  }
  yield* TestClock.adjust("61 seconds")
  const profile = `/v1/accounts/${account.id}/messenger-profile`
  const label = World.put(`/v1/accounts/${account.id}/role-label`, admins.owner.key, { role_label: canary("new") })
  for (const { key } of Object.values(admins)) {
    for (const path of [profile, `/v1/accounts/${account.id}`, "/v1/ai-connections", "/v1/journal"]) {
      answers.push(textOf(yield* World.get(path, key)))
    }
  }
  yield* platform.script({ operation: "profile", answer: { _tag: "Refused", reason: "THE_REASON" } })
  answers.push(textOf(yield* World.get(profile, admins.owner.key)))
  yield* platform.script({ operation: "profile", answer: { _tag: "Unavailable" } })
  answers.push(textOf(yield* World.get(profile, admins.owner.key)))
  answers.push(
    textOf(
      yield* Effect.provideService(
        label,
        Statement.CurrentTransformer,
        (_, sql) => Effect.succeed(sql.unsafe("select broken"))
      )
    )
  )
  const journal = yield* Journal
  const without = Journal.of({ ...journal, append: () => Effect.die(new Error("The journal is broken")) })
  answers.push(textOf(yield* Effect.provideService(label, Journal, without)))
  const away = Db.of({
    transaction: () => Effect.fail(new ServiceUnavailable({})),
    read: () => Effect.fail(new ServiceUnavailable({})),
    check: Effect.fail(new ServiceUnavailable({}))
  })
  answers.push(textOf(yield* Effect.provideService(label, Db, away)))
  return answers
})

/** Applications and an admin at the console: each secret once in the answer that gives it, and never again. */
const credentials = Effect.fnUntraced(function*({ organization, secrets }: Effect.Success<typeof makeStage>) {
  const made = yield* OAuth.connected({ params: { scope: "org:read accounts:write" } })
  const answers: Array<string> = []
  const second = OAuth.tokens(yield* OAuth.refreshWith(made.application, made.tokens.refresh_token))
  answers.push(textOf(yield* World.get("/v1/organization", second.access_token)))
  const unused = yield* made.connect()
  answers.push(textOf(yield* OAuth.redeemWith(unused, { code_verifier: "wrong".repeat(10) })))
  answers.push(textOf(yield* OAuth.redeemWith(made.granted)))
  answers.push(textOf(yield* OAuth.refreshWith(made.application, made.tokens.refresh_token)))
  const confidential = yield* OAuth.registerApplication({ token_endpoint_auth_method: "client_secret_post" })
  answers.push(
    textOf(yield* OAuth.revokeWith(confidential, second.refresh_token, { client_secret: confidential.client_secret }))
  )
  const lasting = OAuth.tokens(yield* OAuth.redeemWith(yield* made.connect()))
  answers.push(textOf(yield* World.get("/v1/organization", lasting.access_token)))
  const { id } = organization
  const owner = organization.admins.owner
  const email = yield* Pages.emailOf(id, owner.id)
  const cookie = yield* Pages.signIn(id, owner.id)
  answers.push(textOf(yield* Pages.signInWith({ organization: id, email, password: `${Pages.password} wrong` })))
  const page = yield* Pages.visit("GET", "/console/developer/api-keys/new", { cookie })
  answers.push(textOf(page), textOf(yield* Pages.visit("GET", "/console/developer", { cookie })))
  const { hidden } = Pages.formOf(page, "/console/developer/api-keys")
  const form = { ...hidden, label: "Nightly", scope: "accounts:write", expiry: "7" }
  const wrong = yield* Pages.visit("POST", "/console/developer/api-keys", {
    cookie,
    form: { ...form, password: "wrong" }
  })
  const created = yield* Pages.visit("POST", "/console/developer/api-keys", {
    cookie,
    form: { ...form, password: Pages.password }
  })
  const [key] = /osc_live_\w{49}/.exec(created.text) ?? []
  answers.push(textOf(wrong), textOf(yield* Pages.visit("GET", "/console/developer", { cookie })))
  answers.push(textOf(yield* World.get("/v1/organization", key ?? "")))
  const given = yield* World.send("POST", "/v1/api-keys", {
    key: owner.key,
    body: { label: "Given", scopes: ["accounts:write"], current_password: Pages.password }
  })
  answers.push(textOf(yield* World.get("/v1/ai-connections", owner.key)))
  Object.assign(secrets, {
    "code": made.granted.code,
    "unused code": unused.code,
    "verifier": made.granted.verifier,
    "access token": made.tokens.access_token,
    "refresh token": made.tokens.refresh_token,
    "lasting access token": lasting.access_token,
    "lasting refresh token": lasting.refresh_token,
    "second access token": second.access_token,
    "second refresh token": second.refresh_token,
    "client secret": confidential.client_secret ?? "",
    "password for applications": OAuth.password,
    "console password": Pages.password,
    "session": cookie.slice(cookie.indexOf("=") + 1),
    "key of a page": key ?? "",
    "key of an operation": given.body.secret
  })
  return { answers, organizationId: made.organization.id }
})

describe("canary secrets", () => {
  layer(World.world(postgres))((it) => {
    it.effect(
      "stand in no answer but the one that gives them, in no line of the log, span, row or event of the journal",
      () =>
        Effect.gen(function*() {
          const sinks = Leaks.makeSinks()
          const stage = yield* makeStage
          const { account, organization, secrets } = stage
          const owner = organization.admins.owner.key
          const secret = `osc_live_${
            crypto.randomBytes(40).toString("base64url").replaceAll(/[-_]/g, "a").slice(0, 49)
          }`
          const { answers, codes, organizationId } = yield* Effect.gen(function*() {
            const { organizationId, answers: given } = yield* credentials(stage)
            const collected = [
              ...yield* operations(stage),
              ...given,
              ...yield* misplaced(owner, account.id, secret),
              ...yield* misplacedElsewhere(owner, account.id, secret)
            ]
            const { answers: entered, codes } = yield* secured(stage)
            secrets["misplaced key"] = secret
            return { answers: [...collected, ...entered], codes, organizationId }
          }).pipe(Effect.provide(sinks.layer))
          expect(Object.values(secrets).filter((each) => each.length < 16)).toEqual([])
          Object.assign(secrets, codes)
          expect(answers.flatMap((answer) => Leaks.found(answer, secrets).map((name) => [name, answer]))).toEqual([])
          expect(Leaks.found(sinks.log(), secrets)).toEqual([])
          expect(Leaks.found(sinks.trace(), secrets)).toEqual([])
          const tables = yield* Leaks.dump(organization.id, organizationId)
          for (const [table, rows] of tables) expect([table, Leaks.found(rows, secrets)]).toEqual([table, []])
          // What the messenger needs to know the service again is kept, and told to nobody.
          const kept = { "session of the service": account.sessionRef, "passkey": "passkey-canary-kept" }
          expect(Leaks.found(tables.get("account") ?? "", kept)).toEqual(["session of the service"])
          expect(Leaks.found(tables.get("account_secret") ?? "", kept)).toEqual(["passkey"])
          for (const text of [...answers, sinks.log(), sinks.trace(), tables.get("journal_event") ?? ""]) {
            expect(Leaks.found(text, kept)).toEqual([])
          }
          // The run has been through what it says.
          expect(sinks.log()).toContain("The journal is broken")
          expect(sinks.log()).toContain("Request answered")
          expect(sinks.trace()).toContain("set_account_role_label")
          expect(sinks.trace()).toContain("select append_event(")
          expect(tables.get("oauth_token")).toContain("digest")
        }),
      60_000
    )

    it.effect("are found in every sink that they are put into, in every form", () =>
      Effect.gen(function*() {
        const { organization, secrets } = yield* makeStage
        for (const [name, secret] of Object.entries(secrets)) {
          for (
            const form of [
              secret,
              Buffer.from(`x:${secret}`).toString("base64"),
              Buffer.from(`xy${secret}z`).toString("base64url"),
              Buffer.from(secret).toString("hex"),
              encodeURIComponent(secret),
              JSON.stringify({ secret })
            ]
          ) {
            const sinks = Leaks.makeSinks()
            yield* Effect.logTrace("A leak", form).pipe(
              Effect.withSpan("leaking", { attributes: { form } }),
              Effect.provide(sinks.layer)
            )
            expect([Leaks.found(sinks.log(), secrets), Leaks.found(sinks.trace(), secrets)]).toEqual([[name], [name]])
          }
        }
        const sinks = Leaks.makeSinks()
        const key = Redacted.value(organization.admins.owner.key)
        yield* Effect.exit(Effect.withSpan(Effect.fail(new Error(`with ${key}`)), "failing")).pipe(
          Effect.provide(sinks.layer)
        )
        expect(Leaks.found(sinks.trace(), secrets)).toEqual(["key of owner"])
        const label = { role_label: key }
        const answer = yield* World.put(
          `/v1/accounts/${organization.ids.account[0]}/role-label`,
          organization.admins.owner.key,
          label
        )
        expect(Leaks.found(textOf(answer), secrets)).toEqual(["key of owner"])
        const leaking = [...yield* Leaks.dump(organization.id)].filter(([, rows]) =>
          Leaks.found(rows, secrets).length > 0
        )
        expect(leaking.map(([table]) => table)).toEqual(["account", "journal_event"])
      }))
  })

  it("stand in nothing that a process says: of its settings, its database that is away, and what it cannot read", async () => {
    const base64 = (name: string) => Buffer.from(canary(name).padEnd(64, "x")).toString("base64")
    const secrets: Secrets = {
      "password of the database": canary("database"),
      "pepper": base64("pepper"),
      "csrf key": base64("csrf"),
      "checkpoint key": Buffer.from(canary("checkpoint").slice(0, 32).padEnd(32, "x")).toString("base64"),
      "key": `osc_live_${canary("key").replaceAll("-", "").padEnd(49, "a").slice(0, 49)}`
    }
    const url = (port: string) => `postgres://console:${secrets["password of the database"]}@127.0.0.1:${port}/console`
    const env = {
      CONSOLE_DATABASE_URL: url("1"),
      CONSOLE_PEPPERS: secrets["pepper"] ?? "",
      CONSOLE_CHECKPOINT_KEYS: secrets["checkpoint key"] ?? "",
      CONSOLE_CSRF_KEYS: secrets["csrf key"] ?? "",
      CONSOLE_API_KEY: secrets["key"] ?? "",
      CONSOLE_LOG_LEVEL: "debug",
      CONSOLE_LOG_FORMAT: "json"
    }
    const failing = [
      Cli.run(["migrate"], { env }),
      Cli.run(["migrate"], { env: { ...env, CONSOLE_DATABASE_URL: url("no-port") } }),
      Cli.run(["serve", "--port", "0"], { env: { ...env, CONSOLE_PEPPERS: `${secrets["pepper"]}, not base64!` } }),
      Cli.run(["mcp"], { env, stdin: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n" })
    ]
    const service = await Cli.serve([], env)
    const { status } = await Cli.ask(service.address, secrets["key"] ?? "", "GET", "/v1/organization")
    await service.stop()
    const said = [...await Promise.all(failing), { status, stdout: service.stdout(), stderr: service.stderr() }]
    expect([status, ...said.map(({ status }) => status === 0)]).toEqual([503, false, false, false, false, false])
    for (const { stderr, stdout } of said) expect([stderr, Leaks.found(stderr + stdout, secrets)]).toEqual([stderr, []])
    expect(said.at(-1)?.stderr).toContain("The database is away")
    expect(Leaks.found(Object.values(env).join("\n"), secrets)).toEqual(Object.keys(secrets))
  })
})
