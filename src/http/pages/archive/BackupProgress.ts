/** A run over an account's archive, in words: what it does, how far it is, and what follows a failure. */
import { Duration } from "effect"
import { type ArchiveFacts, type ArchiveSummary, nothingRuns } from "../../../domain/archive/ArchiveSummary.ts"
import type { MessagesRead } from "../../../ports/archive/CaptureStore.ts"
import * as Bars from "../kit/Bars.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Times from "../kit/Times.ts"
import { size } from "./ExportWords.ts"

/** Facts of a run that its summary does not say. */
export interface RunFacts extends
  Pick<
    ArchiveFacts,
    | "archive_bytes_before"
    | "archive_dialogs_before"
    | "archive_messages_before"
    | "archive_phase_at"
    | "archive_queued_at"
    | "archive_retry_at"
    | "archive_started_at"
  >
{
  /** Null but in the phase in which messages are read. */
  readonly messages: MessagesRead | null
}

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
  ["archive_key_unproven", "nothing proves that the archive’s key is the one that was set"],
  ["file_store_failed", "the store of files did not take them"],
  ["record_too_large", "something is too large to be archived"],
  ["unexpected", "something unexpected went wrong; the service’s log says what"]
])

const count = (value: number): string => value.toLocaleString("en")

/** A number of things in words, rounded. */
const numberOf = (thing: string) => (value: number): string =>
  Math.round(value) === 1 ? `1 ${thing}` : `${count(Math.round(value))} ${thing}s`

export const chats = numberOf("chat")
const files = numberOf("file")
const messages = numberOf("message")

/** A rate is not said earlier: it would rest on a few chats. */
const rateAfter = Duration.toMillis("30 seconds")

/** Work of a phase since it began, and its rest; `words` say such a number. */
interface Share {
  readonly done: number
  readonly left: number
  readonly words: (value: number) => string
}

const paceOf = ({ done, left, words }: Share, passed: number) => {
  if (done <= 0 || left <= 0) return undefined
  const perHour = done / passed * Duration.toMillis("1 hour")
  return {
    rate: perHour < 120 ? `${words(Math.max(1, perHour))} an hour` : `${words(perHour / 60)} a minute`,
    time: Times.lasting(left * passed / done)
  }
}

/**
 * The rate and the time left of a phase, by what has been done since it began; nothing where that is not known. Messages
 * say more than chats do, once the messenger has counted those of all chats. Files differ in size: of those that are left
 * nothing but their number is known.
 */
const pace = (archive: ArchiveSummary, run: RunFacts, now: number): string | undefined => {
  const { phase, running } = archive
  if (run.archive_phase_at === null || running === null || running.dialogs_total === null) return undefined
  const passed = now - run.archive_phase_at.getTime()
  if (passed < rateAfter) return undefined
  const byNumber = {
    done: running.dialogs_done - run.archive_dialogs_before,
    left: running.dialogs_total - running.dialogs_done
  }
  if (phase === "media") {
    const found = paceOf({ ...byNumber, words: files }, passed)
    return found &&
      `At about ${found.rate}, they take about ${found.time} more. Files differ in size, so this may change.`
  }
  if (run.messages === null) return undefined
  const { done, total, uncounted } = run.messages
  const byMessages = uncounted > 0 ? undefined : paceOf({
    done: archive.messages - run.archive_messages_before,
    left: total - done,
    words: messages
  }, passed)
  if (byMessages !== undefined) {
    return `At about ${byMessages.rate}, the rest takes about ${byMessages.time} more, and files follow.`
  }
  const byChats = paceOf({ ...byNumber, words: chats }, passed)
  return byChats &&
    `At about ${byChats.rate}, its messages take about ${byChats.time} more, and files follow. Chats differ in size, so this may change.`
}

const howFar = (archive: ArchiveSummary, run: RunFacts): string => {
  const { bytes, phase, running } = archive
  if (running === null || running.dialogs_total === null || running.dialogs_total === 0) return ""
  const so = `: ${count(running.dialogs_done)} of ${count(running.dialogs_total)}`
  if (phase === "media") {
    const saved = bytes - run.archive_bytes_before
    return `${so} files${saved <= 0 ? "" : `, ${size(saved)} so far`}`
  }
  if (run.messages === null || run.messages.total === 0) return `${so} chats`
  const { done, total, uncounted } = run.messages
  return `${so} chats, and ${count(done)} of about ${messages(total)}${
    uncounted === 0 ? "" : " in the chats opened so far"
  }`
}

/** The bars of a phase: chats or files, and messages beside the chats that they are in. */
const bars = ({ phase, running }: ArchiveSummary, { messages }: RunFacts): Html.Html | undefined => {
  if (running === null || running.dialogs_total === null) return undefined
  return html`${
    Bars.bar(phase === "media" ? "Files done" : "Chats done", running.dialogs_done, running.dialogs_total)
  }${
    messages === null || messages.total === 0
      ? undefined
      : Bars.bar("Messages archived", messages.done, messages.total)
  }`
}

const inProgress = (archive: ArchiveSummary, run: RunFacts, now: number): Html.Html => {
  const { phase, running } = archive
  const estimate = pace(archive, run, now)
  const chat = running?.current_chat ?? null
  return html`<p><strong>A backup is running.</strong> ${phases[phase ?? "starting"]}${howFar(archive, run)}.${
    chat === null ? undefined : html` It reads ${Html.named(chat)}.`
  }${run.archive_started_at === null ? undefined : html` It started ${Times.ago(run.archive_started_at, now)}.`}</p>
  ${bars(archive, run)}
  ${estimate === undefined ? undefined : html`<p class="hint">${estimate}</p>`}
  ${
    run.archive_queued_at === null
      ? undefined
      : html`<p class="hint">Another one was asked for and follows.</p>`
  }`
}

const waiting = (run: RunFacts, now: number): Html.Html =>
  html`<p><strong>A backup waits for its turn.</strong>${
    run.archive_queued_at === null
      ? undefined
      : html` It was asked for ${Times.ago(run.archive_queued_at, now)}.`
  }</p>`

const again = ({ next_backup_at }: ArchiveSummary, run: RunFacts, now: number): Html.Html | undefined => {
  const at = run.archive_retry_at ?? next_backup_at
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
