import { Effect } from "effect"
import { Capture } from "../../capture/Capture.ts"
import * as Job from "../Job.ts"

export const captureArchives = Job.makeWith("capture_archives", {
  period: "5 seconds",
  does: "archives what is missing of the accounts whose nightly or requested run is due, and what is pushed of them",
  start: Effect.map(Capture, ({ claim }) => ({ run: claim }))
})
