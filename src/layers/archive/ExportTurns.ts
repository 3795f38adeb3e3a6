import { Layer } from "effect"
import { exportPartsAtOnce, exportPartsInAll, exportPartsOfOrganization } from "../../domain/Limits.ts"
import { ExportTurns } from "../../ports/archive/ExportTurns.ts"
import { makeTurns } from "./OrganizationTurns.ts"

export const layer = Layer.sync(
  ExportTurns,
  () =>
    ExportTurns.of({
      take: makeTurns({
        each: exportPartsOfOrganization,
        all: exportPartsAtOnce,
        most: exportPartsInAll,
        retryAfter: 5
      })
    })
)
