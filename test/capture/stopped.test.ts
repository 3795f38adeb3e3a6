import { describe, expect, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { runCapture } from "../../src/capture/CaptureRun.ts"
import { catchUp } from "../../src/capture/Differences.ts"
import { takePushes } from "../../src/capture/LiveCapture.ts"
import type { AccountFacts } from "../../src/domain/accounts/Account.ts"
import type { OrganizationFacts } from "../../src/domain/organization/Organization.ts"
import { Accounts } from "../../src/ports/accounts/Accounts.ts"
import { Organizations } from "../../src/ports/organization/Organizations.ts"
import { drawnOf } from "../support/capture/drawnNumbers.ts"
import { claimedRun, livingProcess } from "../support/capture/livingProcess.ts"
import { account, rule, Stored, unpaced } from "../support/capture/memoryCapture.ts"
import { Platform } from "../support/capture/modelPlatform.ts"
import { accountFacts, organizationFacts } from "../support/stored.ts"

interface Facts {
  readonly account?: Partial<AccountFacts>
  readonly organization?: Partial<OrganizationFacts>
}

const at = new Date(0)

const cases: ReadonlyArray<readonly [reason: string, Facts]> = [
  ["retired", { account: { offboarded_at: at } }],
  ["no_archive_plan", { account: { licence_tier: "protect" } }],
  ["no_archive_plan", { organization: { plan: "protect" } }],
  ["licence_stopped", { account: { stopped_at: at, stop_reason: "licence" } }],
  ["licence_stopped", { organization: { status: "suspended", suspend_reason: "licence" } }],
  ["no_key", { organization: { archive_key_set: false } }],
  ["paused", { account: { paused_at: at } }],
  ["no_connection", { account: { session_ref: null } }],
  ["no_connection", { account: { stopped_at: at, stop_reason: "session_lost" } }],
  ["storage_full", { organization: { storage_limit_bytes: 10, storage_used_bytes: 10 } }],
  ["cleanup_stopped", { account: { archive_cleanup_running: true } }]
]

const saved: Partial<AccountFacts> = {
  licence_tier: "archive",
  session_ref: "session",
  monitoring_state: "active",
  archive_cleanup_running: false
}

describe("what stops the saving of an account", () => {
  it.effect.each(cases)(
    "ends its run and what is pushed with %s, and the difference catches up afterwards",
    ([reason, facts]) =>
      Effect.gen(function*() {
        const platform = new Platform(drawnOf(1), 0)
        const chat = platform.chats.get(101n)!
        const stored = new Stored()
        stored.setRules([rule(null, "archive", true)])
        const process = (facts: Facts) => {
          const known = () => Effect.succeed(accountFacts({ ...saved, ...facts.account }))
          return livingProcess(stored).pipe(
            Context.add(Accounts, { holdArchive: known, known } as unknown as Accounts["Service"]),
            Context.add(
              Organizations,
              {
                facts: () => Effect.succeed(organizationFacts(facts.organization))
              } as unknown as Organizations["Service"]
            )
          )
        }
        const { feed, reader } = platform
        const run = runCapture(claimedRun, { ...unpaced, feed, reader })
        const texts = () => [...stored.ofChat(101n).values()].map(({ revisions }) => revisions[0]?.mark)
        platform.send(chat, null)
        yield* Effect.provideContext(run, process({}))
        expect(texts()).toEqual(["101/1"])
        const position = stored.state?.position
        const pushes = platform.sendUntilPushed(chat)
        const stopped = process(facts)
        const push = takePushes(account, pushes)
        for (const work of [push, run]) {
          expect(yield* Effect.flip(Effect.provideContext(work, stopped))).toMatchObject({ reason })
        }
        expect([texts(), stored.state?.position]).toEqual([["101/1"], position])
        yield* Effect.provideContext(catchUp(account, null, feed), process({}))
        expect(texts()).toEqual(platform.visible(chat).map(({ text }) => text))
      })
  )
})
