/** A notice at the foot of the page while the service takes no further requests. */
import { make } from "./Elements.ts"
import { plural } from "./Texts.ts"

export interface WaitNotice {
  readonly wait: (seconds: number) => void
  readonly clear: () => void
}

export const makeNotice = (): WaitNotice => {
  const element = make("p", { class: "wait-notice", role: "status" })
  document.body.append(element)
  let timer: ReturnType<typeof setTimeout> | undefined
  const clear = (): void => {
    clearTimeout(timer)
    element.textContent = ""
  }
  return {
    wait: (seconds) => {
      clear()
      element.textContent = `The service has had as many requests as it takes in a minute. This goes on in ${
        plural(seconds, "second")
      }.`
      timer = setTimeout(clear, seconds * 1000)
    },
    clear
  }
}
