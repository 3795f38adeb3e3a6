/** Mutants of capture: of what is promised, and when. */
import { change, type MutantsByFile } from "../mutant.ts"

const histories = "test/properties/capture.test.ts"
const chats = "test/domain/archive/CapturedChat.test.ts"
const revisions = "test/domain/archive/Revisions.test.ts"

export const capture: MutantsByFile = {
  "src/domain/archive/CapturedChat.ts": [
    change({ in: "newlyJoined", replace: "joinedAt !== null &&", by: "false &&" })
      .loses("history that was shown or hidden between two times of joining is not compared")
      .seenBy(chats),
    change({ in: "newlyJoined", replace: "joinedAt !== null && ", by: "" })
      .loses("an answer without the date of joining clears what is promised")
      .seenBy(chats),
    change({ in: "afterLoss", replace: "isSaved(chat) ?", by: "false ?" })
      .loses("edits and deletions inside a gap of a box are never found")
      .seenBy(chats, histories),
    change({
      in: "afterSelection",
      replace: "uncheckedFrom(withoutEdge(judged), null)",
      by: "judged"
    })
      .loses("messages written while a chat was not selected count as archived")
      .seenBy(chats, histories),
    change({ in: "afterSighting", replace: "uncheckedFrom(withoutEdge(chat), recent)", by: "chat" })
      .loses("changes before a position was known are not compared")
      .seenBy(chats)
  ],
  "src/domain/archive/ChatProgress.ts": [
    change({ in: "afterPush", replace: "chat.edge === null || chat.edge === chat.floor ?", by: "chat.edge === null ?" })
      .loses("“nothing below” counts as covered")
      .seenBy("test/domain/archive/ChatProgress.test.ts"),
    change({ in: "afterPage", replace: "low, below, oldestAt", by: "0n, below, oldestAt" })
      .loses("one cursor stands for all ranges, and what lies below a page counts as archived")
      .seenBy(histories)
  ],
  "src/domain/archive/Revisions.ts": [
    change({ in: "sift", replace: "editedAt === message.editedAt", by: "true" })
      .loses("a content that comes back by another edit is not archived")
      .seenBy(revisions),
    change({ in: "sift", replace: "(late || !isHidden(message, twins))", by: "true" })
      .loses(
        "of two edits in one second the older one is shown, where a page had the newer one before both were pushed"
      )
      .seenBy(revisions, "test/archive/Writer.test.ts"),
    change({ in: "isSame", replace: "|| one.mark === other.mark", by: "|| true" })
      .loses("of two edits in one second one is lost")
      .seenBy(revisions, histories),
    change({ in: "byAge", replace: "Number(other.late ?? false) - Number(one.late ?? false)", by: "0" })
      .loses("an edit that came late is shown as the newest of its second")
      .seenBy(revisions)
  ],
  "src/archive/Writer.ts": [
    change({
      in: "append",
      replace: "yield* records.grow(account, growth, now)",
      by: "if (path === \"sweep\") yield* records.grow(account, growth, now)"
    })
      .loses("messages that are pushed are archived and not counted")
      .seenBy("test/capture/run.test.ts")
  ],
  "src/capture/ChatMembers.ts": [
    change({ in: "hasDueMembers", replace: "membersAt === null ||", by: "" })
      .loses("members are never read, or never again")
      .seenBy("test/capture/run.test.ts")
  ],
  "src/capture/Drift.ts": [
    change({ in: "lacking", replace: "!known.has(id)", by: "known.has(id)" })
      .loses("whole archives count as drifted")
      .seenBy("test/capture/drift.test.ts")
  ],
  "src/capture/Expiry.ts": [
    change({
      in: "expireSome",
      replace: "yield* archive.mark(chatId, all.map(({ id }) => id), \"expired\", \"sweep\")",
      by: "void chatId"
    })
      .loses("messages whose time has run out count as still there")
      .seenBy(histories)
  ],
  "src/capture/Media.ts": [
    change({
      in: "stillWanted",
      replace: "if (!(yield* (yield* WaitingFiles).isPending(account, file.fileId))) return null",
      by: ""
    })
      .loses("files that are saved are read again with each edit of their message")
      .seenBy("test/capture/liveFiles.test.ts")
  ],
  "src/capture/LiveAccounts.ts": [
    change({ in: "ask", replace: "Math.max(due, at - Duration.toMillis(turnPause))", by: "at" })
      .loses("each glance that begins late delays all after it, so that large groups are looked at too seldom")
      .seenBy("test/capture/liveAccounts.test.ts"),
    change({ in: "turn", replace: "places.withPermit(", by: "(" })
      .loses("a process that starts catches up with all its accounts at the same moment")
      .seenBy("test/capture/liveAccounts.test.ts"),
    change({ in: "makeLiveAccounts", replace: "(restsUntil.get(key) ?? 0) <= at", by: "true" })
      .loses("a session that ends at once is opened every few seconds")
      .seenBy("test/capture/liveAccounts.test.ts"),
    change({ in: "act", replace: "if (inbox.isOver)", by: "if (false)" })
      .loses("nothing is archived of an account whose session has ended, until the process starts again")
      .seenBy("test/capture/liveAccounts.test.ts"),
    change({ in: "act", replace: "whereAnswered(takePushes(account, batch))", by: "takePushes(account, batch)" })
      .loses("what is pushed while the database is away for a second is lost")
      .seenBy("test/capture/liveFailures.test.ts")
  ],
  "src/capture/Floods.ts": [
    change({ in: "heeding", replace: "left > 0", by: "false" })
      .loses("a method is asked again before the wait that the messenger demands of it is over")
      .seenBy("test/capture/floods.test.ts")
  ],
  "src/capture/RefusedChats.ts": [
    change({
      in: "unlessRefused",
      replace: "yield* commit(account, claimed, () => storeRefusal(account, chatId, reason))",
      by: ""
    })
      .loses("a chat of which the messenger fails to answer is asked for without end")
      .seenBy("test/capture/refusedChats.test.ts")
  ],
  "src/capture/LiveCapture.ts": [
    change({ in: "catchUpSome", replace: "let left = answersInRow", by: "let left = Infinity" })
      .loses("what is pushed waits until all channels of an account have caught up")
      .seenBy("test/capture/liveFailures.test.ts"),
    change({ in: "placeOf", replace: "push.position === position + push.count && !isBehind", by: "true" })
      .loses("gaps of positions are ignored")
      .seenBy(histories),
    change({ in: "placeOf", replace: "return \"late\"", by: "return \"next\"" })
      .loses("a push that was passed already takes its box back")
      .seenBy("test/capture/calls.test.ts")
  ],
  "src/capture/StoredChanges.ts": [
    change({ in: "storeMessage", replace: "known ? chat : uncheckedDownTo(chat, record.id)", by: "chat" })
      .loses("a message that a late push brings stays although it was deleted")
      .seenBy("test/capture/calls.test.ts")
  ],
  "src/capture/StoredPages.ts": [
    change({ in: "storePage", replace: "chat === undefined || !isSaved(chat)", by: "chat === undefined" })
      .loses("a chat that is not selected any more is stored")
      .seenBy("test/capture/calls.test.ts"),
    change({
      in: "markAbsent",
      replace: "below === null ? lastId : below - 1n",
      by: "below === null ? null : below - 1n"
    })
      .loses("messages above the newest one that was answered are not marked")
      .seenBy(histories)
  ],
  "src/capture/CaptureRun.ts": [
    change({
      in: "readPage",
      replace: "askPage(chat, below, reader)",
      by: "commit(run, run, () => askPage(chat, below, reader))"
    })
      .loses("a page is asked for while rows are locked, and looks wait for the messenger")
      .seenBy(histories),
    change({
      in: "readPage",
      replace: "nextBelow(after) !== undefined",
      by: "true"
    })
      .loses("a turn at the rate is lost for each chat")
      .seenBy("test/capture/calls.test.ts"),
    change({ in: "placedChat", replace: "chat.position !== null", by: "true" })
      .loses("history is read before the position of its box is known")
      .seenBy("test/capture/calls.test.ts")
  ],
  "src/capture/Rechecks.ts": [
    change({ in: "isOld", replace: "floorAt !== null &&", by: "false &&" })
      .loses("history that is shown later is never asked for")
      .seenBy("test/capture/calls.test.ts")
  ],
  "src/capture/Sightings.ts": [
    change({ in: "judgeOf", replace: "before.get(chatId) ?? null", by: "null" })
      .loses("a group's successor is not archived like it")
      .seenBy(histories)
  ],
  "src/capture/CaptureSteps.ts": [
    change({ in: "keepClaim", replace: "runs.renew(run, until)", by: "Effect.succeed(until)" })
      .loses("a file that takes longer than a claim is read again and again")
      .seenBy("test/capture/calls.test.ts"),
    change({ in: "afterWaits", replace: "left > 0 &&", by: "false &&" })
      .loses("every short wait that the messenger demands ends the run, which begins with all dialogs again")
      .seenBy("test/capture/calls.test.ts"),
    change({ in: "commitRead", replace: "if (claimed !== null)", by: "if (false)" })
      .loses("looks wait behind the steps of runs")
      .seenBy("test/capture/giveWay.test.ts"),
    change({ in: "exclusively", replace: "archives.exclusively(account, work)", by: "work" })
      .loses("a deletion that overtakes a page is lost")
      .seenBy("test/capture/calls.test.ts")
  ],
  "src/capture/Pacer.ts": [
    change({ in: "afterLooks", replace: "left > 0 && isLooking()", by: "false" })
      .loses("a page is asked for while a look waits for its answer")
      .seenBy("test/capture/pacer.test.ts")
  ],
  "src/capture/NextRuns.ts": [
    change({ in: "afterRun", replace: "nextNight(timeZone,", by: "nextNight(\"UTC\"," })
      .loses("backups run in the daytime of organizations far from UTC")
      .seenBy("test/capture/nextRuns.test.ts")
  ],
  "src/capture/Differences.ts": [
    change({
      in: "storeDifference",
      replace: "yield* commit(account, claimed, (archive) =>",
      by:
        "yield* commit(account, claimed, () => Effect.flatMap(now, (at) => store.setState(account, state, at)))\n  yield* commit(account, claimed, (archive) =>"
    })
      .loses("a position is committed before the records that it promises")
      .seenBy(histories),
    change({
      in: "stepCommon",
      replace: "inTime(feed.difference(since))",
      by: "commit(account, claimed, () => inTime(feed.difference(since)))"
    })
      .loses("a difference is asked for while rows are locked, and looks wait for the messenger")
      .seenBy(histories),
    change({ in: "beginAt", replace: "yield* lose(account, isOfCommonBox)", by: "void 0" })
      .loses("a common box that was lost for a while counts as unbroken")
      .seenBy(histories)
  ]
}
