/** What archiving takes without the watch: a whole history, nights with nothing new, files, and sealing. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { newEpoch } from "../../src/archive/EpochKeys.ts"
import { sealFrame } from "../../src/archive/Frames.ts"
import { makeKeyPair } from "../../src/archive/KeyWraps.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { dayOf, messagesPerPage, piecesOf } from "../../src/domain/archive/PageRules.ts"
import * as NodeCrypto from "../../src/layers/archive/NodeCrypto.ts"
import { chatOf } from "../archive/corpus.ts"
import { organizationId } from "../archive/sealed.ts"
import { wait } from "../monitor/measure.ts"
import { median } from "../support/asking.ts"
import { held } from "../support/heap.ts"
import { fileBytes, kindOf, messagesOfLarge } from "./histories.ts"
import type { Measuring } from "./measure.ts"
import { askForRuns, callsOf, differences, runAll, unpaced, usedBy } from "./setting.ts"

/** Files of one account that are read at the same time. */
const filesAtOnce = 2

const nightsInRow = 10
const sealingRounds = 10

/** A whole first backup without a rate, and the next night, in which nothing is new. */
export const night: Measuring = async ({ centre, ground, refs, work }) => {
  const [, second = ""] = refs
  const worker = await work({ archivePace: unpaced }, [second])
  await askForRuns(ground, [second])
  const whole = await usedBy(ground, () => runAll(worker))
  console.error("backed up without a rate")
  const read = await centre.send({ _: "report" })
  const nights: Array<number> = []
  for (let left = nightsInRow; left > 0; left--) {
    await askForRuns(ground, [second])
    nights.push((await usedBy(ground, () => runAll(worker))).process)
  }
  console.error("backed up in nights with nothing new")
  await worker.close()
  const { ofSilent } = await centre.send({ _: "report" })
  const calls = (callsOf(ofSilent[1]) - callsOf(read.ofSilent[1])) / nightsInRow
  return [
    [
      "first backup without a rate, CPU of the process a message",
      `${(whole.process / messagesOfLarge * 1000).toFixed(0)} µs`,
      "200 µs"
    ],
    [
      "first backup without a rate, CPU of the database a message",
      `${(whole.database / messagesOfLarge * 1000).toFixed(0)} µs`,
      ""
    ],
    [
      "first backup without a rate",
      `${Math.round(messagesOfLarge / whole.at * 1000)} messages a second`,
      "at least 5000 messages a second"
    ],
    ["first backup without a rate: calls", String(callsOf(read.ofSilent[1])), "1300"],
    ["a night with nothing new: calls", calls.toFixed(1), "8"],
    ["the first night after it: CPU of the process", `${nights[0]?.toFixed(0)} ms`, ""],
    [`a night, median of ${nightsInRow}: CPU of the process`, `${median(nights).toFixed(1)} ms`, "5 ms"],
    ["messages of it that are missing or doubled", String(await differences(ground, second)), "0"]
  ]
}

/** What one file needs while it is read, at the default rate of files: the most of many moments, to the least of them. */
export const files: Measuring = async ({ ground, refs, work }) => {
  const [ref = ""] = refs.filter((_, place) => kindOf(place) === "files").slice(-1)
  const worker = await work({ archivePace: unpaced }, [ref])
  await askForRuns(ground, [ref])
  await worker.capture()
  const moments: Array<number> = []
  await wait(8000)
  for (const end = Date.now() + 10_000; Date.now() < end; await wait(50)) moments.push(held())
  await worker.close()
  return [[
    `memory of a file of ${
      fileBytes / 2 ** 20
    } MiB while it is read, from the least to the most of ${moments.length} moments`,
    `${((Math.max(...moments) - Math.min(...moments)) / 1024 / filesAtOnce).toFixed(1)} MiB`,
    "4 MiB"
  ]]
}

/** Seals pages of one chat, and answers the messages. */
const sealPages = Effect.gen(function*() {
  const pair = yield* makeKeyPair
  const ref = { organizationId, accountId: AccountId.make(crypto.randomUUID()), epochId: 1n, keyId: pair.keyId }
  const { key } = yield* newEpoch(ref, pair.publicKey)
  const { chatId, messages } = chatOf(0, 0, 10_000)
  const records = messages.map((message) => ({ ...message, archivedAt: message.at }))
  const pages = [...Map.groupBy(records, ({ at }) => dayOf(at))].flatMap(([day, all]) =>
    piecesOf(all, messagesPerPage).map((page) => ({ page, place: { chatId, day, kind: "messages" as const } }))
  )
  const before = process.cpuUsage()
  for (let round = 0; round < sealingRounds; round++) {
    for (const [frame, { page, place }] of pages.entries()) yield* sealFrame(key, place, frame, page)
  }
  const { system, user } = process.cpuUsage(before)
  return { perMessage: (user + system) / records.length / sealingRounds, perPage: records.length / pages.length }
}).pipe(Effect.provide(NodeCrypto.layer))

/** Sealing alone: columns, deflating, encryption and digest of pages. */
export const sealing: Measuring = async () => {
  const { perMessage, perPage } = await Effect.runPromise(sealPages)
  return [[`sealing, in pages of ${perPage.toFixed(0)}: CPU a message`, `${perMessage.toFixed(1)} µs`, "30 µs"]]
}
