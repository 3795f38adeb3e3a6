import { Effect, Schema } from "effect"
import { Organization, organization } from "../../domain/organization/Organization.ts"
import { superadmins } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import * as samples from "./security.samples.ts"

export const setTakeoverLockdown = Operation.write(
  "set_takeover_lockdown",
  {
    summary: "Set whether a detected takeover signs the account's other sessions out, or is only reported.",
    description: "Turning it on signs nothing out by itself: it holds for takeovers that are detected from now on.",
    method: "PUT",
    path: "/v1/settings/takeover-lockdown",
    toolset: "security",
    scope: "security:write",
    roles: superadmins,
    confirm: true,
    idempotent: true,
    body: {
      enabled: Schema.Boolean.annotateKey({
        description: "True signs the account's other sessions out, approved ones too; false only alerts."
      })
    },
    success: Organization,
    sample: samples.setTakeoverLockdown,
    journal: { action: "takeover_lockdown.set", target: "organization" }
  },
  Effect.fnUntraced(function*({ enabled }, { caller, now }) {
    const organizations = yield* Organizations
    const facts = yield* organizations.lockFacts(caller.organizationId)
    if (facts.tamper_lockdown_enabled === enabled) return Operation.unchanged(organization(facts, now))
    yield* organizations.setLockdown(caller.organizationId, enabled)
    return Operation.changed(organization({ ...facts, tamper_lockdown_enabled: enabled }, now), { enabled })
  })
)
