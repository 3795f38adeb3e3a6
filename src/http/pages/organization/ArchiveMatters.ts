/** The matters of the archive as a whole: its end, its retention, and cleanups that failed. */
import { Duration, Effect } from "effect"
import { archiveEnd } from "../../../domain/archive/ArchiveEnd.ts"
import { keptWords } from "../../../domain/archive/Retention.ts"
import { before } from "../../../domain/Moments.ts"
import { archivePhase } from "../../../domain/organization/Organization.ts"
import { Caller, superadmins } from "../../../domain/people/Access.ts"
import { getArchiveRetention } from "../../../operations/archive/get_archive_retention.ts"
import { listArchiveCleanups } from "../../../operations/archive/list_archive_cleanups.ts"
import { Db } from "../../../ports/Db.ts"
import { Organizations } from "../../../ports/organization/Organizations.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { ArchiveState, Find, Viewer } from "./Matter.ts"
import * as Tabs from "./OrganizationTabs.ts"

/** A cleanup that failed is shown for so long. */
const failureShown = Duration.days(7)

/** The state that the admin sees. */
export const readArchiveState = Effect.fnUntraced(function*({ readsArchive, role }: Viewer, now: Date) {
  const caller = yield* Caller
  const organizations = yield* Organizations
  const facts = yield* (yield* Db).read(caller.organizationId, organizations.facts(caller))
  const deletes = readsArchive && superadmins.includes(role)
  return {
    phase: archivePhase(facts, now),
    end: archiveEnd(facts.archive_plan_ended_at),
    retention: deletes ? yield* getArchiveRetention.call({}) : null,
    failedCleanups: deletes ? (yield* listArchiveCleanups.call({ state: "failed", limit: 50 })).data : []
  } satisfies ArchiveState
})

const subscription = { to: Tabs.subscriptionPath, action: "Subscription" } as const

/** The archive is deleted, or time alone will close and delete it. */
export const ending: Find = (_overview, _viewer, { end, phase }) => {
  if (phase === "deleting") {
    return {
      tone: "danger",
      title: "The archive is being deleted",
      text: "Nobody can read anything of it any more.",
      to: Tabs.path,
      action: "Organization"
    }
  }
  if (phase === "closed" && end !== null) {
    return {
      tone: "danger",
      title: "The archive is closed, and will be deleted",
      text: html`Nobody can read it. It is deleted on ${
        Html.dayOf(end.deletesAt)
      }, unless a plan includes it again before.`,
      ...subscription
    }
  }
  return phase !== "readonly" ? undefined : {
    tone: "caution",
    title: "Nothing more is archived, and the archive will be closed",
    text: html`No plan includes it.${
      end === null ?
        undefined :
        html` It can be read until ${Html.dayOf(end.closesAt)}, and is deleted on ${Html.dayOf(end.deletesAt)}.`
    }`,
    ...subscription
  }
}

export const retentionBegins: Find = ({ generated_at }, _viewer, { retention }) => {
  if (retention === null || retention.begins_at === null || retention.begins_at <= generated_at) return undefined
  const { begins_at, days, tier_days } = retention
  return {
    tone: "caution",
    title: "Old messages will be deleted from the archive",
    text: html`From ${Html.dayOf(begins_at)} on, what is older than the retention is deleted once a week. Kept: ${
      keptWords({ days, tierDays: tier_days })
    }.`,
    to: `${Tabs.archiveCleanupsPath}#retention`,
    action: "Retention"
  }
}

export const failedCleanups: Find = ({ generated_at }, _viewer, { failedCleanups }) => {
  const since = before(generated_at, failureShown)
  const failed = failedCleanups.filter(({ finished_at }) => finished_at !== null && finished_at >= since)
  const held = failed.filter(({ error }) => error === "archive_held").length
  const some = `${failed.length} ${failed.length === 1 ? "cleanup" : "cleanups"}`
  return failed.length === 0 ? undefined : {
    tone: "caution",
    title: held === failed.length ? `A legal hold stopped ${some} of the archive` : `${some} of the archive failed`,
    text: `What ${failed.length === 1 ? "it" : "they"} had not deleted by then is still there.${
      held === 0 || held === failed.length ? "" : ` A legal hold stopped ${held} of them.`
    }`,
    to: Tabs.archiveCleanupsPath,
    action: "Cleanups"
  }
}
