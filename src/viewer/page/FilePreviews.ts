/** Previews that are opened once they are in view: few at a time, and those that are gone meanwhile not at all. */

const atOnce = 2
/** Pixels around the view within which a preview is opened already. */
const margin = "200px"

export interface FilePreviews {
  /** Opens the preview once the element is in view. */
  readonly add: (element: Element, open: () => Promise<void>) => void
  readonly close: () => void
}

export const makePreviews = (): FilePreviews => {
  const opens = new Map<Element, () => Promise<void>>()
  const waiting: Array<Element> = []
  let running = 0

  const next = (): void => {
    while (running < atOnce) {
      // The last one that came into view is the one that is looked at.
      const element = waiting.pop()
      if (element === undefined) return
      const open = opens.get(element)
      opens.delete(element)
      if (open === undefined || !element.isConnected) continue
      running += 1
      void open().finally(() => {
        running -= 1
        next()
      })
    }
  }

  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting && opens.has(target)) {
        observer.unobserve(target)
        waiting.push(target)
      }
    }
    next()
  }, { rootMargin: margin })

  return {
    add: (element, open) => {
      opens.set(element, open)
      observer.observe(element)
    },
    close: () => {
      observer.disconnect()
      opens.clear()
    }
  }
}
