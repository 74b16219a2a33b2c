package import Hummingbird
package import Logging
package import ProviderModel
package import PushHTTP
package import PushProvider
package import PushStore
package import PushSupport
package import ServiceLifecycle

/// A feature of a provider: operations of the API, and the services behind them.
package protocol ProviderFeature: Sendable {
    /// The services that run as long as the provider does.
    var services: [any Service] { get }
    /// The controllers with the operations of the feature. Their paths begin with `/v1`.
    var controllers: [any Controller<APIScope>] { get }
}

/// An extension of a provider by another module: a feature that also has other routes.
package protocol ProviderExtension: ProviderFeature {
    /// Adds the routes that are not operations of the API. None of their paths begins with `/v1/apps`.
    func addRoutes(to router: Router<APIContext>)
    /// Notifies the extension that the erasure of a user or an app has begun, or was requested again. It can then
    /// discard what it keeps in memory. The first records have already been erased.
    func erasureBegan()
}

extension ProviderExtension {
    /// Does nothing, because most extensions keep no records of users and apps in memory.
    package func erasureBegan() {}
}

/// The parts of a provider that its extensions use.
package struct ProviderComponents: Sendable {
    package let configuration: ProviderConfiguration
    package let store: any ProviderStore
    package let registrar: DeviceRegistrar
    package let acceptor: NotificationAcceptor
    /// The signals that wake the requests that wait for the outcomes of pushes.
    package let outcomes: OutcomeSignals
    /// The counter of the messages that bridges forward to other servers without storing notifications. The response to
    /// the stop of an app includes those in flight.
    package let forwards: ForwardsInFlight
    /// The runner of operations, with the API keys, limits, metrics and audit trail.
    package let runner: OperationRunner
    /// The resolver of the host names of servers that callers name, such as webhook receivers.
    package let resolver: any NameResolver
    package let budgets: BudgetRegistry
    /// The membership in the nodes that share the database, or `nil` for a database of this process alone.
    package let nodes: NodeMembership?
    package let metrics: PrometheusRegistry
    package let time: any TimeSource
    package let logger: Logger

    init(_ core: ProviderCore, _ sending: SendingComponents, _ runner: OperationRunner) {
        (self.configuration, self.store, self.acceptor) = (core.configuration, core.store, sending.acceptor)
        self.registrar = sending.registrar
        (self.outcomes, self.forwards, self.runner) = (core.outcomes, sending.direct.forwards, runner)
        (self.resolver, self.budgets, self.metrics) = (core.resolver, core.budgets, core.metrics)
        (self.time, self.logger, self.nodes) = (core.time, core.logger, core.nodes)
    }
}
