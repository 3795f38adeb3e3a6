import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { accountName, nameKey } from "../../../src/domain/accounts/Account.ts"
import { canAccessEveryAccount, readsArchive, Role, seesDevices } from "../../../src/domain/people/Access.ts"
import { drawn } from "../../support/drawn.ts"

const named = (first_name: string | null, last_name: string | null, username: string | null) => ({
  first_name,
  last_name,
  username,
  phone_number: "+4915112345678"
})

describe("2.3 the name of an account", () => {
  it.each([
    [named("Ada", "Lovelace", "ada"), "Ada Lovelace"],
    [named("Ada", null, "ada"), "Ada"],
    [named("Ada", "", "ada"), "Ada"],
    [named(null, "Lovelace", "ada"), "Lovelace"],
    [named("", "Lovelace", "ada"), "Lovelace"],
    [named(null, null, "ada"), "ada"],
    [named("", "", "ada"), "ada"],
    [named(null, null, null), "+4915112345678"],
    [named("", "", ""), "+4915112345678"]
  ])("S2.3-05: of %o is %s", (facts, expected) => {
    assert.strictEqual(accountName(facts), expected)
  })

  const Part = Schema.NullOr(Schema.String)

  it.prop(
    "S2.3-05: is the messenger name where there is one, else the username, else the phone number",
    [Part, Part, Part],
    ([first, last, username]) => {
      const name = accountName(named(first, last, username))
      const parts = [first ?? "", last ?? ""].filter((part) => part.length > 0)
      if (parts.length > 0) assert.strictEqual(name, parts.join(" "))
      else assert.strictEqual(name, username === null || username.length === 0 ? "+4915112345678" : username)
      assert.isAbove(name.length, 0)
    },
    drawn(300)
  )

  it("orders without regard to case and compatibility forms", () => {
    assert.strictEqual(nameKey(named("ＡＤＡ", null, null)), nameKey(named("ada", null, null)))
    assert.strictEqual(nameKey(named("É", null, null)), nameKey(named("e\u0301", null, null)))
    assert.notStrictEqual(nameKey(named("Ada", null, null)), nameKey(named("Adb", null, null)))
  })
})

describe("2.3 who sees what", () => {
  it("S2.3-33, S2.3-34: owner, superadmin and admin see devices, billing and archive do not", () => {
    assert.deepStrictEqual(Role.literals.filter(seesDevices), ["owner", "superadmin", "admin"])
  })

  it("S2.3-16: billing never reads the archive, an admin where it was granted, the others always", () => {
    assert.deepStrictEqual(Role.literals.filter((role) => readsArchive(role, false)), [
      "owner",
      "superadmin",
      "archive"
    ])
    assert.deepStrictEqual(Role.literals.filter((role) => readsArchive(role, true)), [
      "owner",
      "superadmin",
      "admin",
      "archive"
    ])
  })

  it("admin and archive reach what was granted, the others every account", () => {
    assert.deepStrictEqual(Role.literals.filter((role) => !canAccessEveryAccount(role)), ["admin", "archive"])
  })
})
