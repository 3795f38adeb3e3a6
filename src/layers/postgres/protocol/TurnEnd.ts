/** The end of a turn of the event loop, when everything that it has read is known. */

/** First what has gathered requests sends them, then everything that is to be sent is written. */
export type Step = "gathered" | "written"

const waiting: Readonly<Record<Step, Array<() => void>>> = { gathered: [], written: [] }
let isPlanned = false

const end = (): void => {
  for (const send of waiting.gathered.splice(0)) send()
  // A request that an answer has caused belongs to the next turn.
  isPlanned = waiting.gathered.length > 0
  if (isPlanned) setImmediate(end)
  for (const write of waiting.written.splice(0)) write()
}

/** Calls back once, at the end of this turn. */
export const atEnd = (step: Step, callback: () => void): void => {
  waiting[step].push(callback)
  if (isPlanned) return
  isPlanned = true
  setImmediate(end)
}
