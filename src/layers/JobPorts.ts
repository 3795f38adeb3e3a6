/** The ports that only background work needs, besides the core's. */
import { Layer } from "effect"
import * as Smtp from "./mail/Smtp.ts"
import * as ChainChecks from "./sql/journal/ChainChecks.ts"
import * as CheckpointQueue from "./sql/journal/CheckpointQueue.ts"
import * as CheckpointSigning from "./sql/journal/CheckpointSigning.ts"
import * as MailQueue from "./sql/mail/MailQueue.ts"

/** Pushes to the `Targets`, and sends by SMTP, where it is set up. */
export const layer = Layer.mergeAll(
  ChainChecks.layer,
  CheckpointQueue.layer,
  CheckpointSigning.layer,
  MailQueue.layer,
  Smtp.layer
)
