import { Effect } from "effect"
import { ResourceMissing } from "../../domain/Failure.ts"
import { Login, login, TargetLogin } from "../../domain/logins/Login.ts"
import { protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import * as samples from "./logins.samples.ts"
import { find } from "./Steps.ts"

export const getLogin = Operation.read(
  "get_login",
  {
    summary: "Read how far a login is, and which step comes next.",
    description:
      "The owner and superadmins see every login, an admin those that they started; never the code or the password.",
    method: "GET",
    path: "/v1/logins/:login_id",
    toolset: "accounts",
    scope: "org:read",
    roles: protectors,
    params: { login_id: TargetLogin },
    success: Login,
    sample: samples.getLogin,
    failures: [ResourceMissing]
  },
  ({ login_id }, { caller, now }) => Effect.map(find(login_id, caller), (facts) => login(facts, now))
)
