/** The page's side of its worker, which is started from a text of the right hash alone. */
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

/** An address of this page alone for the worker's text. */
const load = async (address: string, integrity: string): Promise<string> => {
  try {
    // @effect-diagnostics-next-line globalFetch:off -- the page's script has nothing of Effect
    const response = await fetch(address, { integrity })
    return trusted(URL.createObjectURL(await response.blob()))
  } catch {
    throw new Error("The viewer's worker did not come as this page expects it. Load the page again.")
  }
}

/** Makes workers, one after the other, of the text at the address. */
export const makeClients = (address: string, integrity: string) => {
  let loaded: string | undefined
  return async (wait: (seconds: number) => void): Promise<Client> => {
    loaded ??= await load(address, integrity)
    const worker = new Worker(loaded)
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
