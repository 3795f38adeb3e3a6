/** Objects of Kubernetes, checked against its schemas. */
import { Deployment } from "kubernetes-models/apps/v1"
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2"
import { Job } from "kubernetes-models/batch/v1"
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1"
import { Service } from "kubernetes-models/v1"
import { parseAllDocuments } from "yaml"

type Data<Model extends new(data?: never) => unknown> = ConstructorParameters<Model>[0]

const models = {
  "apps/v1 Deployment": (data: Data<typeof Deployment>) => new Deployment(data),
  "autoscaling/v2 HorizontalPodAutoscaler": (data: Data<typeof HorizontalPodAutoscaler>) =>
    new HorizontalPodAutoscaler(data),
  "batch/v1 Job": (data: Data<typeof Job>) => new Job(data),
  "networking.k8s.io/v1 NetworkPolicy": (data: Data<typeof NetworkPolicy>) => new NetworkPolicy(data),
  "policy/v1 PodDisruptionBudget": (data: Data<typeof PodDisruptionBudget>) => new PodDisruptionBudget(data),
  "v1 Service": (data: Data<typeof Service>) => new Service(data)
}

export type KubernetesObject = ReturnType<typeof models[keyof typeof models]>

const isModel = (name: string): name is keyof typeof models => Object.hasOwn(models, name)

/** The objects of a file; throws at one that Kubernetes does not take, or that no part of the service needs. */
export const readObjects = (text: string): ReadonlyArray<KubernetesObject> =>
  parseAllDocuments(text, { strict: true, uniqueKeys: true }).map((document) => {
    for (const error of document.errors) throw error
    const data = document.toJS()
    const name = `${data.apiVersion} ${data.kind}`
    if (!isModel(name)) throw new Error(`${name} is not expected here`)
    const object = models[name](data)
    object.validate()
    return object
  })

/** The objects of one kind, by the component that they are of. */
export const byComponent = <Kind extends KubernetesObject["kind"]>(
  objects: ReadonlyArray<KubernetesObject>,
  kind: Kind
): ReadonlyMap<string, Extract<KubernetesObject, { kind: Kind }>> =>
  new Map(
    objects
      .filter((object): object is Extract<KubernetesObject, { kind: Kind }> => object.kind === kind)
      .map((object) => [object.metadata?.labels?.["app.kubernetes.io/component"] ?? "", object])
  )

/** The pods that the objects make, by component, each with its only container. */
export const podsOf = (objects: ReadonlyArray<KubernetesObject>) =>
  new Map(
    [...byComponent(objects, "Deployment"), ...byComponent(objects, "Job")].map(([component, { spec }]) => {
      const pod = spec?.template.spec
      const [container, ...others] = pod?.containers ?? []
      if (pod === undefined || container === undefined || others.length > 0) {
        throw new Error(`${component}: one container`)
      }
      return [component, { pod, container, labels: spec?.template.metadata?.labels ?? {} }]
    })
  )
