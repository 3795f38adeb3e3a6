import { Layer } from "effect"
import { verificationsAtOnce, verificationsOfOrganization } from "../../domain/Limits.ts"
import { VerificationTurns } from "../../ports/archive/VerificationTurns.ts"
import { makeTurns } from "./OrganizationTurns.ts"

export const layer = Layer.sync(
  VerificationTurns,
  () =>
    VerificationTurns.of({
      take: makeTurns({
        each: verificationsOfOrganization,
        all: verificationsAtOnce,
        most: verificationsAtOnce,
        retryAfter: 2
      })
    })
)
