/** A run over an account's archive, in words: what it does, how far it is, and what follows a failure. */
import { Duration } from "effect"
import { type ArchiveFacts, type ArchiveSummary, nothingRuns } from "../../../domain/archive/ArchiveSummary.ts"
import * as Bars from "../kit/Bars.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Times from "../kit/Times.ts"

/** The times of a run, which its summary does not say; null where the account is gone. */
export type RunFacts =
  | Pick<
    ArchiveFacts,
    | "archive_dialogs_before"
    | "archive_phase_at"
    | "archive_queued_at"
    | "archive_retry_at"
    | "archive_started_at"
  >
  | null

const phases: Readonly<Record<NonNullable<ArchiveSummary["phase"]>, string>> = {
  starting: "Getting started",
  dialogs: "Looking through the chats",
  messages: "Reading messages",
  media: "Saving files",
  finishing: "Checking what was read"
}

const errors: ReadonlyMap<string, string> = new Map([
  ["archive_error", "who may read the archive sees the reason here"],
  ["messenger_refused", "the messenger refused to answer"],
  ["file_store_failed", "the store of files did not take them"],
  ["record_too_large", "something is too large to be archived"],
  ["unexpected", "something unexpected went wrong; the service’s log says what"]
])

const count = (value: number): string => value.toLocaleString("en")

/** A number of chats, in words. */
export const chats = (value: number): string => Math.round(value) === 1 ? "1 chat" : `${count(Math.round(value))} chats`

/** A rate is not said earlier: it would rest on a few chats. */
const rateAfter = Duration.toMillis("30 seconds")

/**
 * The rate and the time left of the phase in which messages are read, by what has been done since it began; nothing
 * where that is not known. Chats differ in size, so that both are estimates.
 */
const pace = ({ phase, running }: ArchiveSummary, run: RunFacts, now: number): string | undefined => {
  if (phase !== "messages" || run === null || run.archive_phase_at === null) return undefined
  if (running === null || running.dialogs_total === null) return undefined
  const passed = now - run.archive_phase_at.getTime()
  const done = running.dialogs_done - run.archive_dialogs_before
  const left = running.dialogs_total - running.dialogs_done
  if (passed < rateAfter || done <= 0 || left <= 0) return undefined
  const perHour = done / passed * Duration.toMillis("1 hour")
  const rate = perHour < 120 ? `${chats(Math.max(1, perHour))} an hour` : `${chats(perHour / 60)} a minute`
  return `At about ${rate}, its messages take about ${
    Times.lasting(left * passed / done)
  } more, and files follow. Chats differ in size, so this may change.`
}

const howFar = ({ phase, running }: ArchiveSummary): string => {
  if (running === null || running.dialogs_total === null || running.dialogs_total === 0) return ""
  const total = count(running.dialogs_total)
  return `: ${count(running.dialogs_done)} of ${total} ${phase === "media" ? "files" : "chats"}`
}

const inProgress = (archive: ArchiveSummary, run: RunFacts, now: number): Html.Html => {
  const { phase, running } = archive
  const said = `${phases[phase ?? "starting"]}${howFar(archive)}`
  const estimate = pace(archive, run, now)
  const chat = running?.current_chat ?? null
  return html`<p><strong>A backup is running.</strong> ${said}.${
    chat === null ? undefined : html` It reads ${Html.named(chat)}.`
  }${
    run === null || run.archive_started_at === null
      ? undefined
      : html` It started ${Times.ago(run.archive_started_at, now)}.`
  }</p>
  ${
    running === null || running.dialogs_total === null
      ? undefined
      : Bars.bar(phase === "media" ? "Files done" : "Chats done", running.dialogs_done, running.dialogs_total)
  }
  ${estimate === undefined ? undefined : html`<p class="hint">${estimate}</p>`}
  ${
    run === null || run.archive_queued_at === null
      ? undefined
      : html`<p class="hint">Another one was asked for and follows.</p>`
  }`
}

const waiting = (run: RunFacts, now: number): Html.Html =>
  html`<p><strong>A backup waits for its turn.</strong>${
    run === null || run.archive_queued_at === null
      ? undefined
      : html` It was asked for ${Times.ago(run.archive_queued_at, now)}.`
  }</p>`

const again = ({ next_backup_at }: ArchiveSummary, run: RunFacts, now: number): Html.Html | undefined => {
  const at = run?.archive_retry_at ?? next_backup_at
  if (at === null) return undefined
  return at.getTime() <= now ? html` It is tried again next.` : html` It is tried again ${Times.when(at, now)}.`
}

const failed = (archive: ArchiveSummary, error: string, run: RunFacts, now: number): Html.Html =>
  html`<p><strong>The last backup failed</strong>: ${errors.get(error) ?? Html.named(error)}.${
    nothingRuns(archive.saving) ? undefined : again(archive, run, now)
  }</p>`

/** True while a run is in progress or waits, so that a page that shows it has more to say soon. */
export const isUnderWay = ({ status }: ArchiveSummary): boolean => status === "running" || status === "queued"

export const progress = (archive: ArchiveSummary, run: RunFacts, now: number): Html.Html =>
  html`${
    archive.status === "running"
      ? inProgress(archive, run, now)
      : archive.status === "queued" || archive.status === "error" && archive.error === null
      ? waiting(run, now)
      : undefined
  }
  ${archive.error === null ? undefined : failed(archive, archive.error, run, now)}`
