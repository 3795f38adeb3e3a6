/** Locks the viewer where nobody has used it for a while. */

/** 15 minutes. */
const limit = 15 * 60 * 1000
/** A sleeping computer runs no timers: the clock is read again and again instead. */
const period = 15 * 1000

const uses = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"] as const

export const whenIdle = (lock: () => void): () => void => {
  let used = Date.now()
  const note = () => {
    used = Date.now()
  }
  const check = () => {
    if (Date.now() - used >= limit) lock()
  }
  for (const use of uses) addEventListener(use, note, { passive: true })
  document.addEventListener("visibilitychange", check)
  const timer = setInterval(check, period)
  return () => {
    for (const use of uses) removeEventListener(use, note)
    document.removeEventListener("visibilitychange", check)
    clearInterval(timer)
  }
}
