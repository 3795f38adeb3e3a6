/** The turns of the worker's fibers. A timer of a browser waits for 4 ms at least; a message to itself comes at once. */
import { Layer, Scheduler } from "effect"

const bySendingMessages = (): Scheduler.Scheduler => {
  const { port1, port2 } = new MessageChannel()
  const waiting = new Map<number, () => void>()
  let last = 0
  port1.addEventListener("message", ({ data }: MessageEvent<number>) => {
    const task = waiting.get(data)
    waiting.delete(data)
    task?.()
  })
  port1.start()
  return new Scheduler.MixedScheduler("async", (task) => {
    last += 1
    const turn = last
    waiting.set(turn, task)
    port2.postMessage(turn)
    return () => void waiting.delete(turn)
  })
}

export const layer = Layer.sync(Scheduler.Scheduler, bySendingMessages)
