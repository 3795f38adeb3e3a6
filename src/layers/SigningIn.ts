/** The sign-in of admins to the console: what its pages need besides the core and the keys of their forms. */
import { Layer } from "effect"
import { AdminSignIn } from "../ports/signin/AdminSignIn.ts"
import * as ConsoleSessions from "../signin/ConsoleSessions.ts"
import * as ForgottenPasswords from "../signin/ForgottenPasswords.ts"
import * as Invitations from "../signin/Invitations.ts"
import * as ProviderSignIn from "../signin/ProviderSignIn.ts"
import * as SecondFactors from "../signin/SecondFactors.ts"
import * as SignIns from "../signin/SignIns.ts"
import * as CsrfKeys from "./crypto/signin/CsrfKeys.ts"
import * as FactorProofs from "./crypto/signin/FactorProofs.ts"
import * as Provider from "./identity/Provider.ts"

export const layer = Layer.mergeAll(
  SignIns.layer,
  SecondFactors.layer,
  AdminSignIn.layer,
  ForgottenPasswords.layer,
  Invitations.layer,
  ProviderSignIn.layer
).pipe(
  Layer.provideMerge(ConsoleSessions.layer),
  Layer.provide([Layer.provideMerge(FactorProofs.layer, CsrfKeys.layerSignatures), Provider.layer])
)
