/** The command that serves an AI assistant, and opens the archive on the assistant's own machine. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"

const flags = {
  url: Flag.String("url").pipe(
    Flag.withDescription("Address of the service, such as https://security.example.com")
  ),
  signIn: Flag.Boolean("sign-in").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Connect the bridge in a browser, once, and end; a connection that exists is replaced")
  ),
  scopes: Flag.String("scopes").pipe(
    Flag.withDefault("archive:read org:read"),
    Flag.withDescription("Scopes to ask for, separated by spaces")
  ),
  noBrowser: Flag.Boolean("no-browser").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Print the address to open, and open no browser")
  ),
  passwordFd: Flag.Int("password-fd").pipe(
    Flag.optional,
    Flag.withDescription("File descriptor whose first line is the archive password")
  ),
  askPassword: Flag.Boolean("ask-password").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Ask for the archive password in the terminal")
  )
}

/** Serves an AI assistant; what it is served with is loaded when it is. */
export const bridge = Command.make(
  "bridge",
  flags,
  (settings) => Effect.flatMap(Effect.promise(() => import("../bridge/Bridge.ts")), ({ bridge }) => bridge(settings))
).pipe(
  Command.withExamples([
    {
      command: "security-console bridge --url https://security.example.com --sign-in",
      description: "Connect the bridge, once"
    },
    {
      command: "security-console bridge --url https://security.example.com",
      description: "For a client that starts its servers itself"
    }
  ])
)
