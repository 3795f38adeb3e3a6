import { assert, describe, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import { accessExceeded } from "../../../src/domain/credentials/GrantingLimits.ts"
import { canAccessEveryAccount, type Role } from "../../../src/domain/people/Access.ts"
import { GivenRole } from "../../../src/domain/people/Admin.ts"
import * as Rules from "../../../src/domain/people/AdminRules.ts"
import { drawn } from "../../support/drawn.ts"
import { between, pickOf } from "../../support/random.ts"

/** Somebody in a small organization, as the rules see them, with the accounts that are granted. */
interface Person {
  readonly facts: Rules.Facts
  readonly granted: ReadonlySet<number>
}

const roles = Arbitrary.array(pickOf<GivenRole>(...GivenRole.literals), { minLength: 2, maxLength: 5 })

const act = Arbitrary.all({
  by: between(0, 5),
  on: between(0, 5),
  what: pickOf("role", "grant", "disable", "enable", "remove", "transfer"),
  role: pickOf<GivenRole>(...GivenRole.literals),
  account: between(0, 3)
})

const acts = Arbitrary.array(act, { minLength: 1, maxLength: 12 })

const limit = { scopeType: "accounts", connectionId: "" } as const
/** The accounts that the limited caller can access. */
const within = new Set([0, 1])
const everything = new Set([0, 1, 2, 3])

const reach = ({ facts, granted }: Person): ReadonlySet<number> =>
  facts.disabled_at !== null ? new Set() : canAccessEveryAccount(facts.role) ? everything : granted

const start = (given: ReadonlyArray<GivenRole>): Map<number, Person> =>
  new Map((["owner", ...given] as ReadonlyArray<Role>).map((role, place) => [place, {
    facts: { id: String(place), role, joined_at: new Date(0), disabled_at: null },
    granted: new Set(place % 2 === 0 ? [place % 4] : [])
  }]))

/** Does what is asked where the rules let it, as the operations do. */
const step = (people: Map<number, Person>, limited: boolean, { account, by, on, role, what }: {
  readonly by: number
  readonly on: number
  readonly what: string
  readonly role: GivenRole
  readonly account: number
}): void => {
  const actor = people.get(by)
  const target = people.get(on)
  if (actor === undefined || target === undefined || !Rules.administers(actor.facts)) return
  const caller = { limit: limited ? limit : null }
  const beyond = [...target.granted].some((one) => !within.has(one))
  const hands = (given: Role) => accessExceeded(caller, { role: given, beyond: limited && beyond })
  const change = (facts: Partial<Rules.Facts>) => people.set(on, { ...target, facts: { ...target.facts, ...facts } })
  switch (what) {
    case "role": {
      const refused = Rules.lessens(actor.facts, target.facts) ?? Rules.givesRole(actor.facts, role) ??
        (Rules.narrows(target.facts.role, role) ? null : hands(role))
      if (refused === null) change({ role })
      return
    }
    case "grant":
      if (
        Rules.actsOn(actor.facts, target.facts) === null && Rules.canHave(target.facts.role, {}) === null &&
        (!limited || within.has(account))
      ) people.set(on, { ...target, granted: new Set([...target.granted, account]) })
      return
    case "disable":
      if (Rules.disables(actor.facts, target.facts) === null) change({ disabled_at: new Date(1) })
      return
    case "enable":
      if (Rules.enables(actor.facts, target.facts) === null && hands(target.facts.role) === null) {
        change({ disabled_at: null })
      }
      return
    case "remove":
      if (Rules.lessens(actor.facts, target.facts) === null) people.delete(on)
      return
    default:
      if (!limited && Rules.transfers(actor.facts, target.facts) === null) {
        people.set(by, { ...actor, facts: { ...actor.facts, role: "superadmin" } })
        change({ role: "owner" })
      }
  }
}

describe("10.2 who may act on whom", () => {
  it.prop(
    "whatever admins do to each other, there is one owner, who is not disabled",
    { given: roles, acts },
    ({ acts, given }) => {
      const people = start(given)
      for (const one of acts) step(people, false, one)
      const owners = [...people.values()].filter(({ facts }) => facts.role === "owner")
      assert.deepStrictEqual(owners.map(({ facts }) => facts.disabled_at), [null])
    },
    drawn(400)
  )

  it.prop(
    "whatever a limited caller does, nobody reaches an account beyond the limit that they did not reach before",
    { given: roles, acts },
    ({ acts, given }) => {
      const people = start(given)
      for (const one of acts) {
        const before = new Map([...people].map(([place, person]) => [place, reach(person)]))
        step(people, true, one)
        for (const [place, person] of people) {
          const had = before.get(place) ?? new Set()
          assert.deepStrictEqual([...reach(person)].filter((account) => !had.has(account) && !within.has(account)), [])
        }
      }
    },
    drawn(400)
  )

  it.prop(
    "a superadmin neither makes, changes, disables nor removes another superadmin, and nobody lessens themselves",
    { given: roles, one: act },
    ({ given, one }) => {
      const people = start(given)
      const actor = people.get(one.by)
      const target = people.get(one.on)
      step(people, false, one)
      if (actor?.facts.role === "owner" || one.what === "transfer") return
      assert.strictEqual(
        [...people.values()].filter(({ facts }) => facts.role === "superadmin" && facts.disabled_at === null).length,
        given.filter((role) => role === "superadmin").length
      )
      if (one.by === one.on) assert.deepStrictEqual(people.get(one.on)?.facts, target?.facts)
    },
    drawn(400)
  )
})
