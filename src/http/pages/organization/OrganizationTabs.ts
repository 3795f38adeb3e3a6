/** The pages of the organization, and words that several of them use. */
import type { Organization, Tier } from "../../../domain/organization/Organization.ts"
import * as Statuses from "../accounts/Statuses.ts"
import { type Html, html } from "../kit/index.ts"

export const path = "/console/organization"
export const subscriptionPath = `${path}/subscription`
export const mailsPath = `${path}/mails`
export const archiveKeyPath = "/console/archive-key"
export const archiveRulesPath = "/console/archive-rules"
export const archiveCleanupsPath = "/console/archive-cleanups"
export const archiveHoldsPath = "/console/archive-holds"
export const archiveExportsPath = "/console/archive-exports"
export const archiveVerificationPath = "/console/archive-verification"
export const supportPath = `${path}/support`

const tabs = [
  [path, "Overview"],
  [subscriptionPath, "Subscription"],
  [mailsPath, "Mails"],
  [supportPath, "Support"],
  [archiveRulesPath, "Archive rules"],
  [archiveKeyPath, "Archive password"],
  [archiveCleanupsPath, "Archive cleanups"],
  [archiveHoldsPath, "Archive holds"],
  [archiveExportsPath, "Archive exports"],
  [archiveVerificationPath, "Archive verification"]
] as const

/** The links to the organization's pages. */
export const nav = (base: string, at: typeof tabs[number][0]): Html.Html =>
  html`<nav aria-label="Organization" class="tabs"><ul>${
    tabs.map(([path, text]) =>
      html`
  <li><a href="${base}${path}"${path === at ? html` aria-current="page"` : undefined}>${text}</a></li>`
    )
  }
</ul></nav>`

export const tiers: Readonly<Record<Tier, string>> = {
  protect: "Protect",
  archive: "Archive",
  governance: "Governance"
}

const statuses = {
  active: ["good", "Active"],
  pending: ["caution", "Waits for a licence"],
  suspended: ["danger", "Suspended"]
} as const

export const status = (status: Organization["status"]): Html.Html => {
  const [tone, text] = statuses[status]
  return Statuses.mark(tone, text)
}

export const seats = ({ free, limit, reserved, used }: Organization["seats"]): string =>
  `${used} of ${limit} used${reserved === 0 ? "" : `, ${reserved} reserved by sign-up links`}, ${
    // A licence that was made smaller leaves more seats used than there are.
    Math.max(0, free)} free`
