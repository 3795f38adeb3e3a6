/** The page's side of its worker. */
import type { Answered, CallName, Calls, Fault } from "../ViewerCalls.ts"
import { trusted } from "./TrustedAddress.ts"

/** A call that failed, with what the worker says of it. */
export class CallFailed extends Error {
  readonly code: Fault["code"]
  constructor({ code, message }: Fault) {
    super(message)
    this.code = code
  }
}

type AnswerTo<Name extends CallName> = { readonly answer: Calls[Name]["answer"] } | { readonly fault: Fault }

type Answer = (event: { readonly data: Answered }) => void

export interface Client {
  readonly call: <Name extends CallName>(name: Name, ask: Calls[Name]["ask"]) => Promise<Calls[Name]["answer"]>
  /** Ends the worker, and with it every key and text that it has. */
  readonly end: () => void
}

/** Makes workers at the address, one after the other. */
export const makeClients = (address: string) => {
  const url = trusted(address)
  return (wait: (seconds: number) => void): Client => {
    const worker = new Worker(url)
    const waiting = new Map<number, Answer>()
    let last = 0
    worker.addEventListener("message", (event) => {
      const answered: Answered = event.data
      if ("waiting" in answered) return wait(answered.waiting)
      waiting.get(answered.id)?.(event)
      waiting.delete(answered.id)
    })
    const fail = (message: string) => {
      for (const [id, answer] of waiting) answer({ data: { id, fault: { code: "other", message } } })
      waiting.clear()
    }
    worker.addEventListener("error", () => fail("The viewer's worker has stopped. Load the page again."))
    return {
      call: <Name extends CallName>(name: Name, ask: Calls[Name]["ask"]) =>
        new Promise<Calls[Name]["answer"]>((resolve, reject) => {
          last += 1
          waiting.set(last, (event: MessageEvent | { readonly data: Answered }) => {
            const answered: AnswerTo<Name> = event.data
            if ("fault" in answered) reject(new CallFailed(answered.fault))
            else resolve(answered.answer)
          })
          worker.postMessage({ id: last, name, ask })
        }),
      end: () => worker.terminate()
    }
  }
}
