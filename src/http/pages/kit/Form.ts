/**
 * The forms of the console's pages. Each is declared once: its address, what sending it does, what is said when that is
 * done, and where a refusal is shown. A form's token is bound to its address and to the one member that it is about.
 */
import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { ResourceMissing, ServiceUnavailable } from "../../../domain/Failure.ts"
import type { Role } from "../../../domain/people/Access.ts"
import * as RequestLog from "../../../transport/RequestLog.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Forms from "./Forms.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import type { AdminPage, PageRequest } from "./PageRequest.ts"
import * as PageRequests from "./PageRequest.ts"
import * as Problem from "./Problem.ts"
import * as Refused from "./RefusedForms.ts"
import type * as SentForm from "./SentForm.ts"
import * as Serving from "./Serving.ts"

/** The message of a page about the form that was sent before. */
export interface Outcome {
  readonly faults: Html.Faults
  /** The sentence for a success. */
  readonly done?: string | undefined
  /** The refusal, where it belongs to no field. */
  readonly problem?: string | undefined
  /** The refusal in the operation's words. */
  readonly words?: string
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The refused form, by the last part of its address, and its contents. */
  readonly form?: string
  readonly sent?: SentForm.Form
  /** True if a list in the form was searched, which does nothing else. */
  readonly searched?: boolean
}

export const none: Outcome = { faults: Html.noFaults }

/** The notice of a success, above everything else of a page. */
export const success = ({ done }: Outcome): Html.Html | undefined =>
  done === undefined ? undefined : html`<p class="good" role="status">${done}</p>`

/** The notice of a refusal. */
export const problems = ({ faults, problem }: Outcome): Html.Html | undefined =>
  faults.size > 0 ? Html.summary(faults) : Refused.box(problem)

/** The outcome above everything else of a page. */
export const notice = (outcome: Outcome): Html.Html =>
  html`${success(outcome)}
${problems(outcome)}`

/** The message after a search: Enter in any field searches, where lists are long. */
export const searchedNote = ({ searched = false }: Outcome): Html.Html | undefined =>
  searched ? html`<p class="note" role="status">Nothing is changed yet: finish the form below.</p>` : undefined

type Place = readonly [field: string, text?: string]

/**
 * The field of each refusal, by its code or by the member that it names, and its words where those of the operation are
 * not meant for a form. A text alone is for the field of the member's name or, by a code, for the top of the page.
 */
export type Refusals = Readonly<Record<string, string | Place | ((problem: string) => Place)>>

const placeOf = (refusals: Refusals, name: string, problem: string): string | Place | undefined => {
  const place = Object.hasOwn(refusals, name) ? refusals[name] : undefined
  return typeof place === "function" ? place(problem) : place
}

/** The place and the words of a refusal; null for one that no form is prepared for. */
const outcomeOf = (refused: Refused.RefusedForm, refusals: Refusals): Outcome | null => {
  const { code, field: own, headers, param = "", problem, status } = refused
  const at = (field: string, text = problem): Outcome => ({ faults: new Map([[field, text]]), status, headers })
  if (own !== undefined) return at(own)
  const isInput = code === "parameter_invalid" || code === "resource_missing"
  const ofCode = isInput ? undefined : placeOf(refusals, code, problem)
  if (typeof ofCode === "string") return { ...none, problem: ofCode, status, headers }
  if (ofCode !== undefined) return at(...ofCode)
  const ofParam = placeOf(refusals, param, problem)
  if (ofParam === undefined) return null
  const [field, text] = typeof ofParam === "string" ? [param, ofParam] : ofParam
  return at(field, isInput ? text : undefined)
}

/** A form that was sent: the id of what its page is about, its contents, and who sent it. */
export interface Sent {
  readonly id: string
  readonly form: SentForm.Form
  readonly view: AdminPage
}

/** Success messages, by the member `done` of the query that leads to them. */
type Words = Readonly<Record<string, string>>

type Answer = HttpServerResponse.HttpServerResponse

/** A page with forms; one member of its path at most is the id of what it is about. */
interface Page<E, R> {
  readonly path: `/${string}`
  readonly show: (view: AdminPage, id: string, outcome: Outcome) => Effect.Effect<Answer, E, R>
  /** The roles that see the page, and who they are in words. */
  readonly only?: readonly [roles: ReadonlyArray<Role>, text: string]
  /** The address that signing in returns to, where the path alone is not it. */
  readonly returnTo?: (visit: PageRequest) => string
  /** The sentences for forms of other pages that lead here, by the member `done` of the query. */
  readonly done?: Words
  readonly refusals?: Refusals
  /** True if a refusal that no form is prepared for is a page of its own, not a box on this one. */
  readonly strict?: boolean
}

interface FormDeclaration<A, E, R> {
  /** The last part of its address, below the page's; empty for the page's own. */
  readonly name: string
  /** The whole address, where it is not below the page's. */
  readonly path?: `/${string}`
  /** The member that it is about. */
  readonly about?: string
  readonly submit: (sent: Sent) => Effect.Effect<A, E, R>
  /** The words for what was done, by the form's name or, in a record, by what `key` answers. */
  readonly done?: string | Words
  readonly key?: (made: A, sent: Sent) => string
  /** The path that a success leads to, or its page; the page of the form otherwise. */
  readonly next?: (made: A, sent: Sent) => string | Answer
  readonly refusals?: Refusals
  /** The value of `decision` that sends it; any other button searches in it. */
  readonly pressed?: string
  readonly limits?: SentForm.Limits
  /** The second factor, where it is needed: given in the form's own field, or beforehand by the link in the page. */
  readonly factor?: "field" | "link"
}

const paramOf = (path: string): string | undefined => /:([a-z_]+)/.exec(path)?.[1]

/** Declares a page with its forms. */
export const page = <E, R>(declared: Page<E, R>) => {
  const { done: others = {}, only, path, show } = declared
  const param = paramOf(path)
  const { returnTo = ({ params }) => Forms.addressOf(path, param === undefined ? "" : params[param] ?? "") } = declared
  const idOf = (visit: PageRequest): Effect.Effect<string, ResourceMissing> =>
    param === undefined ? Effect.succeed("") : PageRequests.idOf(visit, param)
  const shown = (view: AdminPage, id: string, outcome: Outcome): Effect.Effect<Answer, E, R> =>
    only === undefined || only[0].includes(view.admin.role)
      ? show(view, id, outcome)
      : Problem.notForRole(view.visit, only[1])

  /** Declares a form of the page. */
  const form = <A, E2, R2>(own: FormDeclaration<A, E2, R2>) => {
    const { about, factor, key = () => own.name, name, next, pressed, submit } = own
    const at = own.path ?? (name === "" ? path : `${path}/${name}` as const)
    const refusals: Refusals = {
      ...(factor === "field" ? { [StepUp.refusedCode]: [StepUp.fieldId] } : {}),
      ...declared.refusals,
      ...own.refusals
    }
    const goOn = (made: A, sent: Sent): Answer => {
      const to = next === undefined ? `${Forms.addressOf(path, sent.id)}?done=${key(made, sent)}` : next(made, sent)
      return typeof to === "string" ? Html.redirect(`${sent.view.visit.base}${to}`) : to
    }
    const asked = ({ form, view }: Sent) =>
      factor === undefined ? Effect.void : factor === "field" ? StepUp.check(view, form) : StepUp.demand(view)
    const run = (sent: Sent) => {
      const { form, id, view } = sent
      if (pressed !== undefined && form.text("decision") !== pressed) {
        return shown(view, id, { ...none, form: name, sent: form, searched: true })
      }
      return Effect.flatMap(asked(sent), () => submit(sent)).pipe(
        Effect.map((made) => goOn(made, sent)),
        Effect.catch((failure): Effect.Effect<Answer, E | E2 | ServiceUnavailable | StepUp.StepUpRefused, R> => {
          const refused = Refused.of(failure)
          const outcome = outcomeOf(refused, refusals)
          if (outcome === null && declared.strict === true) return Effect.fail(failure)
          const { headers, problem, status } = refused
          const shows = outcome ?? { ...none, problem, status, headers }
          return Effect.andThen(
            RequestLog.noteFailure(refused.code),
            shown(view, id, { ...shows, words: problem, form: name, sent: form })
          )
        })
      )
    }
    const done: Words = typeof own.done === "object" ? own.done : own.done === undefined ? {} : { [name]: own.done }
    return {
      done,
      route: Serving.route("POST", at, (visit) =>
        Effect.flatMap(idOf(visit), (id) =>
          Forms.submitted(
            visit,
            Forms.addressOf(path, id),
            (form) => Forms.tokenOf(Forms.addressOf(at, id), about === undefined ? "" : form.text(about)),
            (form, view) => run({ id, form, view }),
            own.limits
          )))
    }
  }

  /** The page and its forms, to be served. */
  const routes = <const F extends ReadonlyArray<{ readonly done: Words; readonly route: unknown }>>(
    forms: F
  ) => {
    const words = new Map([others, ...forms.map(({ done }) => done)].flatMap((each) => Object.entries(each)))
    const get = Serving.route(
      "GET",
      path,
      (visit) =>
        Serving.asAdmin(visit, returnTo(visit), (view) =>
          Effect.flatMap(idOf(visit), (id) => {
            const done = words.get(new URLSearchParams(visit.query).get("done") ?? "")
            return shown(view, id, { ...none, done })
          }))
    )
    return [get, ...forms.map((each): F[number]["route"] => each.route)] as const
  }

  return { form, routes }
}
