/** What happens to many accounts that are watched together, at random. */
import * as fc from "fast-check"

/** How a call of the service goes wrong. */
const troubles = ["Unavailable", "Busy", "Lost"] as const
const calls = ["authorizations", "sign_out", "security", "set_password", "open"] as const

/** What happens to one account at a moment; numbers pick a device among those that there are. */
export type Deed =
  | { readonly kind: "nothing" | "attempt" | "code" | "revoke" | "pair" | "relogin" | "offboard" }
  | { readonly kind: "sign in"; readonly disguised: boolean }
  | { readonly kind: "end"; readonly pick: number }
  | { readonly kind: "change"; readonly what: "2fa" | "reset" | "recovery" | "phone" | "passkey" }
  | {
    readonly kind: "trouble"
    readonly call: typeof calls[number]
    readonly answer: typeof troubles[number]
    readonly times: number
  }
  | { readonly kind: "reachable"; readonly on: boolean }
  /** What an admin asks for; the process dies after so many calls, where that is a number. */
  | { readonly kind: "ask"; readonly what: Asked; readonly pick: number; readonly dies: number | null }

export type Asked =
  | "approve"
  | "sign-out"
  | "sign-out-others"
  | "pause"
  | "resume"
  | "security lock"
  | "release"
  | "two-fa"

/** What an admin or somebody outside does while a sign-out is on its way. */
export type During = "approve it" | "approve another" | "pause" | "end" | null

/** One round: at each moment one deed for each account. */
export interface Plan {
  /** Minutes between the moments. */
  readonly gaps: ReadonlyArray<number>
  readonly accounts: ReadonlyArray<{
    readonly fresh: boolean
    readonly devices: number
    readonly lockdown: boolean
    readonly deeds: ReadonlyArray<Deed>
    readonly during: ReadonlyArray<During>
  }>
  /**
   * The numbers of calls of the engine at which the process dies, and whether it dies before the call or after.
   */
  readonly deaths: ReadonlyArray<{ readonly after: number; readonly done: boolean }>
}

const moments = 12

const pick = fc.nat({ max: 9 })
const dies = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat({ max: 10 }) })

const ask = (...what: ReadonlyArray<Asked>) =>
  fc.record({ kind: fc.constant("ask" as const), what: fc.constantFrom(...what), pick, dies })

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "nothing" as const }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("sign in" as const), disguised: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("change" as const),
      what: fc.constantFrom("2fa", "reset", "recovery", "phone", "passkey")
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("trouble" as const),
      call: fc.constantFrom(...calls),
      answer: fc.constantFrom(...troubles),
      times: fc.integer({ min: 1, max: 4 })
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reachable" as const), on: fc.boolean() }) },
  { weight: 7, arbitrary: ask("approve", "approve", "sign-out", "sign-out", "sign-out-others") },
  { weight: 6, arbitrary: ask("pause", "resume", "resume", "security lock", "release", "two-fa") },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("attempt", "code", "revoke", "pair", "pair", "relogin", "relogin", "offboard")
    })
  }
)

const during: fc.Arbitrary<During> = fc.constantFrom(
  null,
  null,
  null,
  null,
  "approve it",
  "approve another",
  "pause",
  "end"
)

/** Rounds of so many accounts. */
export const plans = (accounts: number): fc.Arbitrary<Plan> =>
  fc.record({
    gaps: fc.array(fc.constantFrom(1, 1, 1, 5, 9, 30, 60, 11 * 60, 12 * 60, 23 * 60, 24 * 60), {
      minLength: moments,
      maxLength: moments
    }),
    accounts: fc.array(
      fc.record({
        fresh: fc.boolean(),
        devices: fc.nat({ max: 2 }),
        lockdown: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
        deeds: fc.array(deed, { minLength: moments, maxLength: moments }),
        during: fc.array(during, { minLength: 4, maxLength: 4 })
      }),
      { minLength: accounts, maxLength: accounts }
    ),
    deaths: fc.array(fc.record({ after: fc.nat({ max: 60 }), done: fc.boolean() }), { minLength: 60, maxLength: 60 })
  })
