/** Measures of the service's sessions that this process has open on the messenger. */
import { Metric } from "effect"

const sessionsOpened = Metric.counter("console_live_sessions_opened_total", {
  description: "Sessions of the service on the messenger that were opened, again or for the first time",
  incremental: true
})

const sessionsOpen = Metric.gauge("console_live_sessions", {
  description: "Sessions of the service on the messenger that this process keeps open"
})

/** Counts a session of the service that was opened on the messenger. */
export const countOpened = Metric.update(sessionsOpened, 1)

/** Sets the number of sessions that are open. */
export const setOpen = (count: number) => Metric.update(sessionsOpen, count)
