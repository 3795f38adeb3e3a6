/** The two places that the page of the archive password talks to: its worker, and the service. */
import type { KeyAnswer, KeyAsk, KeyFault, ReadyKey } from "./KeyCalls.ts"

/** Has a worker make the key; the worker ends with its answer, and with it every secret that it had. */
export const makeReady = (address: string, ask: KeyAsk): Promise<KeyAnswer> =>
  new Promise((resolve) => {
    const worker = new Worker(address)
    const end = (answer: KeyAnswer): void => {
      worker.terminate()
      resolve(answer)
    }
    worker.addEventListener("message", ({ data }: MessageEvent<KeyAnswer>) => end(data))
    worker.addEventListener(
      "error",
      () => end({ fault: { field: "", message: "The script that makes the key has stopped.", byService: true } })
    )
    worker.postMessage(ask)
  })

const outdated: KeyFault = { field: "", message: "This page is not current. Load it again." }

const faultIn = (value: unknown): KeyFault =>
  typeof value === "object" && value !== null && "field" in value && "message" in value
    ? { field: String(value.field), message: String(value.message) }
    : outdated

/** Sends the form with the key; the fault, or null where it is stored. The secrets have no names, so are not in it. */
export const sendKey = async (form: HTMLFormElement, { key, opened }: ReadyKey): Promise<KeyFault | null> => {
  const body = new URLSearchParams({ key, opened })
  for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value)
  try {
    // @effect-diagnostics-next-line globalFetch:off -- the page's script has nothing of Effect
    const response = await fetch(form.action, {
      method: "POST",
      body,
      cache: "no-store",
      credentials: "same-origin",
      redirect: "manual"
    })
    if (response.headers.get("content-type")?.startsWith("application/json") !== true) return outdated
    const answer: unknown = await response.json()
    return response.ok ? null : faultIn(answer)
  } catch {
    return {
      field: "",
      message:
        "The service did not answer, and may have stored the key. Send the form again as it is: it shows the code then."
    }
  }
}
