import { describe, expect, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { AccountAction, TargetAccount } from "../../src/domain/accounts/Account.ts"
import { alertsTurnedOff, recipientsNarrowed } from "../../src/domain/mail/index.ts"
import { Caller, superadmins } from "../../src/domain/people/Access.ts"
import * as Operation from "../../src/kernel/Operation.ts"
import * as Ports from "../../src/ports/index.ts"
import * as Outbox from "../support/mail/outbox.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const contract = {
  summary: "Do something that is mailed.",
  method: "POST",
  path: "/v1/accounts/:account_id/mail",
  toolset: "security",
  scope: "security:write",
  roles: superadmins,
  idempotent: true,
  params: { account_id: TargetAccount },
  success: AccountAction,
  sample: {
    request: { account_id: "019bc0e2-1280-7691-9060-dc1c794fba00" },
    answer: { object: "account_action", account_id: "019bc0e2-1280-7691-9060-dc1c794fba00", action: "mailed" }
  },
  journal: { action: "account.mailed", target: "account" }
} as const

const answer = { object: "account_action" as const, account_id: TargetAccount.make("019bc0e2"), action: "mailed" }

/** Two things that happened besides, each with its mail. */
const besides = ({ adminId, organizationId }: Caller["Service"]) => [
  {
    journal: { action: "account.first_noted", target: "account" } as const,
    targetId: organizationId,
    mails: [alertsTurnedOff({ adminId })]
  },
  {
    journal: { action: "account.second_noted", target: "account" } as const,
    targetId: organizationId,
    mails: [recipientsNarrowed({ by: "Ada" })]
  }
]

const written = Operation.write(
  "mail_by_write",
  contract,
  (_, { caller }) => Effect.succeed(Operation.changed(answer, {}, undefined, besides(caller)))
)

const guarded = Operation.guarded("mail_by_guarded", contract, {
  check: (_, { caller }) => Effect.succeed(Operation.planned(caller)),
  intent: () => ({ details: {} }),
  act: () => Effect.void,
  settle: (caller) => Effect.succeed({ more: besides(caller) }),
  answer: () => Effect.succeed(answer)
})

const stepped = Operation.login("mail_by_login", contract, {
  enter: (_, { caller }) =>
    Effect.succeed({ changed: true as const, plan: caller, events: besides(caller).slice(0, 1) }),
  act: () => Effect.void,
  settle: (caller) => Effect.succeed({ answer: Result.succeed(answer), events: besides(caller).slice(1) }),
  refuse: () => Effect.succeed({ answer: Result.succeed(answer) }),
  leave: () => Effect.void
})

const mailed = <E, R>(call: (input: { readonly account_id: string }) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function*() {
    const { admins, id } = yield* World.makeOrganization()
    const { id: account } = yield* World.makeLiveAccount(id)
    const credentials = yield* Ports.Credentials
    const known = yield* credentials.authenticate(admins.superadmin.key, `${World.baseUrl}/v1`)
    const caller = Caller.of({ ...known, via: "embedded", ip: null, requestId: null })
    yield* call({ account_id: account }).pipe(Effect.provideService(Caller, caller))
    const events = (yield* World.journal(id)).map(({ action }) => action)
    const causeOf = (action: string) => `event/${events.indexOf(action) + 1}`
    expect(new Map((yield* Outbox.waiting(id)).map(({ cause, kind }) => [kind, cause]))).toEqual(
      new Map([
        ["alerts_turned_off", causeOf("account.first_noted")],
        ["recipients_narrowed", causeOf("account.second_noted")]
      ])
    )
  })

describe("what is mailed because of something that happened besides", () => {
  layer(World.world(postgres))((it) => {
    it.effect("waits in the outbox after a write, each mail for its own event", () => mailed(written.call))
    it.effect("waits there after a guarded operation", () => mailed(guarded.call))
    it.effect("waits there after a step of a login", () => mailed(stepped.call))
  })
})
