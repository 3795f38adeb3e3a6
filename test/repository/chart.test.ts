/**
 * The Helm chart, as `npm run chart` has rendered it. That the renderings are what Helm makes of the chart is checked
 * where Helm is installed (`npm run chart -- --check`).
 */
import { describe, expect, it } from "@effect/vitest"
import { Ajv } from "ajv"
import * as fs from "node:fs"
import * as path from "node:path"
import { parse } from "yaml"
import manifest from "../../package.json" with { type: "json" }
import * as Settings from "../../src/cli/settings/Settings.ts"
import { byComponent, podsOf, readObjects } from "./kubernetesObjects.ts"

const deploy = path.join(import.meta.dirname, "../../deploy")
const read = (file: string) => fs.readFileSync(path.join(deploy, file), "utf8")
const readYaml = (file: string) => parse(read(file), { strict: true, uniqueKeys: true })

const defaults = readObjects(read("helm/rendered/defaults.yaml"))
const everything = readObjects(read("helm/rendered/everything.yaml"))
const kustomization: {
  readonly resources: ReadonlyArray<string>
  readonly images: ReadonlyArray<{ readonly newName: string; readonly newTag: string }>
  readonly configMapGenerator: ReadonlyArray<{ readonly literals: ReadonlyArray<string> }>
} = readYaml("kubernetes/kustomization.yaml")
const kustomized = kustomization.resources.flatMap((file) => readObjects(read(`kubernetes/${file}`)))

const schema: {
  readonly definitions: Readonly<Record<"secret" | "ofTheChart", { readonly enum: ReadonlyArray<string> }>>
} = JSON.parse(read("helm/security-console/values.schema.json"))
const variables = Settings.knownVariables()

/** The values that the user gives over the chart's own, as Helm merges them. */
const merge = (base: unknown, given: unknown): unknown => {
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value)
  if (!isMap(base) || !isMap(given)) return given
  return { ...base, ...Object.fromEntries(Object.entries(given).map(([key, value]) => [key, merge(base[key], value)])) }
}

const without = (object: object | undefined, ...names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(object ?? {}).filter(([name]) => !names.includes(name)))

describe("the Helm chart", () => {
  it("has the package's version, and is rendered in every check", () => {
    expect(readYaml("helm/security-console/Chart.yaml")).toMatchObject({
      version: manifest.version,
      appVersion: manifest.version
    })
    expect(read("../.ci/run")).toMatch(/^step .* npm ci --prefix tools\nstep "chart" npm run chart -- --check$/m)
  })

  it("takes the values of its schema, and refuses secrets, settings of one process and names that it does not know", () => {
    const values = readYaml("helm/security-console/values.yaml")
    const validate = new Ajv({ strict: false, allErrors: true }).compile(schema)
    const given = [{}, readYaml("helm/rendered/everything.values.yaml")]
    for (const each of given) expect([validate(merge(values, each)), validate.errors]).toEqual([true, null])
    const refused = [
      { settings: { CONSOLE_PEPPERS: "x" } },
      { settings: { CONSOLE_PEPPERS_FILE: "/x" } },
      { settings: { CONSOLE_ROLES: "api" } },
      { settings: { CONSOLE_MAX_LIVE: 5000 } },
      { settings: { PATH: "/bin" } },
      { secrets: { service: { files: { CONSOLE_PEPPERS: "peppers" } } } },
      { settings: { CONSOLE_BLOBS: "file:/data" }, blobs: { claim: "files" } },
      { worker: { replicas: 0 } },
      { workers: {} }
    ]
    expect(refused.filter((each) => validate(merge(values, each)))).toEqual([])
    const secrets = variables.filter((name) => variables.includes(`${name}_FILE`))
    expect(schema.definitions.secret.enum).toEqual(secrets.toSorted())
    expect(schema.definitions.ofTheChart.enum.filter((name) => !variables.includes(name))).toEqual([])
  })

  it("renders objects that Kubernetes takes, an autoscaler only where it is asked for", () => {
    const rendered = [
      "Deployment acme-console",
      "Deployment acme-worker",
      "HorizontalPodAutoscaler acme-console",
      "Job acme-migrate",
      "NetworkPolicy acme-worker",
      "PodDisruptionBudget acme-console",
      "PodDisruptionBudget acme-worker",
      "Service acme-console"
    ]
    const named = (objects: typeof defaults) => objects.map(({ kind, metadata }) => `${kind} ${metadata?.name}`).sort()
    expect(named(everything)).toEqual(rendered)
    expect(named(defaults)).toEqual(rendered.filter((name) => !name.startsWith("Horizontal")))
    const replicas = [defaults, everything].map((objects) =>
      byComponent(objects, "Deployment").get("console")?.spec?.replicas
    )
    expect(replicas).toEqual([2, undefined])
  })

  it("runs by default what the manifests for kustomize run", () => {
    const settings = kustomization.configMapGenerator.flatMap(({ literals }) =>
      literals.map((line) => {
        const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? []
        return [name, value] as const
      })
    )
    const [image] = kustomization.images
    const [ours, theirs] = [podsOf(defaults), podsOf(kustomized)]
    expect([...ours.keys()].sort()).toEqual([...theirs.keys()].sort())
    for (const [component, expected] of theirs) {
      const found = ours.get(component)
      const { env = [], envFrom } = expected.container
      // The pod itself has the settings, so that the hook depends on no object that is not there yet.
      expect(envFrom === undefined).toBe(component === "migrate")
      const wanted = new Map(env.map((each) => [each.name, each.value ?? each.valueFrom]))
      if (envFrom !== undefined) { for (const [name, value] of settings) wanted.set(name, value) }
      const given = new Map(found?.container.env?.map((each) => [each.name, each.value ?? each.valueFrom]))
      expect(Object.fromEntries(given), component).toMatchObject(Object.fromEntries(wanted))
      if (component !== "migrate") expect([...given.keys()].sort()).toEqual([...wanted.keys()].sort())
      expect(without(found?.container, "env", "imagePullPolicy"), component).toEqual({
        ...without(expected.container, "env", "envFrom"),
        image: `${image?.newName}:${image?.newTag}`
      })
      // Selectors differ, and are compared below.
      const spread = (pod = expected.pod) =>
        pod.topologySpreadConstraints?.map((each) => without(each, "labelSelector"))
      expect(spread(found?.pod), component).toEqual(spread())
      const rest = (pod = expected.pod) => without(pod, "containers", "topologySpreadConstraints")
      expect(rest(found?.pod), component).toEqual(rest())
    }
    for (const [component, { spec }] of byComponent(kustomized, "Deployment")) {
      const found = byComponent(defaults, "Deployment").get(component)?.spec
      expect(without(found, "selector", "template")).toEqual(without(spec, "selector", "template"))
    }
    for (const kind of ["PodDisruptionBudget", "Service", "NetworkPolicy"] as const) {
      const found = byComponent(defaults, kind)
      expect([...found.keys()].sort()).toEqual([...byComponent(kustomized, kind).keys()].sort())
    }
    expect(byComponent(defaults, "Service").get("console")?.spec?.ports).toEqual(
      byComponent(kustomized, "Service").get("console")?.spec?.ports
    )
  })

  it("gives each process settings that there are, each once, and secrets by the names of values", () => {
    const secrets = { service: "acme-secrets", migration: "acme-migration-secret" }
    for (const objects of [defaults, everything]) {
      for (const [component, { container, pod }] of podsOf(objects)) {
        const names = container.env?.map(({ name }) => name) ?? []
        expect([component, names.length]).toEqual([component, new Set(names).size])
        expect(names.filter((name) => name !== "POD_IP" && !variables.includes(name)), component).toEqual([])
        const mounts = container.volumeMounts?.map(({ mountPath, name }) => `${name} ${mountPath}`)
        for (const { name, value = "" } of container.env ?? []) {
          const [, mount] = /^\/run\/secrets\/([a-z]+)\//.exec(value) ?? []
          expect([name, mount !== undefined]).toEqual([
            name,
            name.endsWith("_FILE") || name === "CONSOLE_MESSENGER_KEYS"
          ])
          if (mount !== undefined) expect(mounts, name).toContain(`${mount} /run/secrets/${mount}`)
        }
        const mounted = pod.volumes?.flatMap(({ name, secret }) =>
          secret === undefined ? [] : [[name, secret.secretName]]
        )
        const expected = Object.entries(secrets).filter(([name]) => name === "service" || component === "migrate")
        const byDefault = expected.map(([name]) => [name, name])
        expect(mounted?.toSorted(), component).toEqual((objects === defaults ? byDefault : expected).toSorted())
      }
    }
  })

  it("selects pods by labels that they have and that other releases do not", () => {
    for (const objects of [defaults, everything]) {
      const pods = podsOf(objects)
      const own = (component: string) => ({
        "app.kubernetes.io/name": "security-console",
        "app.kubernetes.io/instance": "acme",
        "app.kubernetes.io/component": component
      })
      for (const [component, { labels, pod }] of pods) {
        expect(labels).toEqual(own(component))
        for (const { labelSelector } of pod.topologySpreadConstraints ?? []) {
          expect(labelSelector?.matchLabels).toEqual(own(component))
        }
      }
      for (const kind of ["Deployment", "PodDisruptionBudget"] as const) {
        for (const [component, { spec }] of byComponent(objects, kind)) {
          expect(spec?.selector?.matchLabels).toEqual(own(component))
        }
      }
      expect(byComponent(objects, "Service").get("console")?.spec?.selector).toEqual(own("console"))
      const network = byComponent(objects, "NetworkPolicy").get("worker")?.spec
      const release = without(own("worker"), "app.kubernetes.io/component")
      expect(network?.podSelector?.matchLabels).toEqual(own("worker"))
      expect(network?.ingress).toEqual([
        {
          from: [{
            podSelector: {
              matchLabels: release,
              matchExpressions: [{ key: "app.kubernetes.io/component", operator: "In", values: ["worker", "console"] }]
            }
          }],
          ports: [{ port: "cluster" }]
        },
        { ports: [{ port: "metrics" }] }
      ])
    }
    const scaled = byComponent(everything, "HorizontalPodAutoscaler").get("console")?.spec?.scaleTargetRef
    expect(scaled).toEqual({ apiVersion: "apps/v1", kind: "Deployment", name: "acme-console" })
  })

  it("migrates by a hook that needs nothing of the release itself", () => {
    for (const objects of [defaults, everything]) {
      const job = byComponent(objects, "Job").get("migrate")
      expect(job?.metadata?.annotations).toEqual({
        "helm.sh/hook": "pre-install,pre-upgrade",
        "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded"
      })
      const { container, pod } = podsOf(objects).get("migrate") ?? {}
      expect([container?.envFrom, pod?.serviceAccountName]).toEqual([undefined, undefined])
      const made = new Set(objects.map(({ metadata }) => metadata?.name))
      const used = pod?.volumes?.flatMap((volume) => [
        volume.secret?.secretName,
        volume.configMap?.name,
        volume.persistentVolumeClaim?.claimName
      ])
      expect(used?.filter((name) => name !== undefined && made.has(name))).toEqual([])
    }
  })
})
