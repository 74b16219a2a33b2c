package import Hummingbird
package import Logging
package import ProviderModel
package import PushHTTP
package import PushProvider
package import PushStore
package import PushSupport
package import ServiceLifecycle

/// A part of a provider with a purpose of its own: some operations of the API, and the services behind them.
package protocol ProviderFeature: Sendable {
    /// The services that run for as long as the provider does.
    var services: [any Service] { get }
    /// The controllers with the operations of the feature. Their paths begin with `/v1`.
    var controllers: [any Controller<APIScope>] { get }
}

/// A feature that another module adds, also with routes beside the API.
package protocol ProviderExtension: ProviderFeature {
    /// Adds the routes beside the API, none of which begins with `/v1/apps`.
    func addRoutes(to router: Router<APIContext>)
    /// Notifies the extension that the erasure of a user or an app has begun, or is requested again. The first rows
    /// have been erased by then.
    func erasureBegan()
}

extension ProviderExtension {
    /// Does nothing: an extension without this method keeps no records of users and apps in memory.
    package func erasureBegan() {}
}

/// The components of a provider that an extension may use.
package struct ProviderComponents: Sendable {
    package let configuration: ProviderConfiguration
    package let store: any ProviderStore
    package let acceptor: NotificationAcceptor
    /// The signals that wake requests which wait for outcomes.
    package let outcomes: OutcomeSignals
    /// The messages that bridges forward without the ledger. A stop counts those that are under way.
    package let forwards: ForwardsInFlight
    /// The runner of operations, with the API keys, limits, metrics and audit trail.
    package let runner: OperationRunner
    /// The resolver of the host names in addresses that callers give.
    package let resolver: any NameResolver
    package let budgets: BudgetRegistry
    package let metrics: PrometheusRegistry
    package let time: any TimeSource
    package let logger: Logger

    init(_ core: ProviderCore, _ sending: SendingComponents, _ runner: OperationRunner) {
        (self.configuration, self.store, self.acceptor) = (core.configuration, core.store, sending.acceptor)
        (self.outcomes, self.forwards, self.runner) = (core.outcomes, sending.direct.forwards, runner)
        (self.resolver, self.budgets, self.metrics) = (core.resolver, core.budgets, core.metrics)
        (self.time, self.logger) = (core.time, core.logger)
    }
}

/// Pages beside the REST API, on its listener.
package protocol ProviderPages: Sendable {
    /// Adds the routes of all pages, none of which begins with `/v1`.
    func addRoutes(to router: Router<APIContext>)
}

/// The components of a provider that its pages may use.
package struct ProviderInterface: Sendable {
    /// The REST API. A request to it names its caller in ``APIContext/caller``.
    package let api: any HTTPResponder<APIContext>
    package let signIn: SignInService
    package let budgets: BudgetRegistry
    /// The limiter of the listener's connections.
    package let connections: ConnectionLimiter
    /// The reporter that turns failures into errors that people may see.
    package let failures: FailureReporter
    /// Indicates whether the API is reached over TLS.
    package let isSecure: Bool
    package let time: any TimeSource
    package let logger: Logger

    init(_ core: ProviderCore, _ callers: CallerFeature, api: any HTTPResponder<APIContext>) {
        (self.api, self.signIn, self.failures) = (api, callers.signIns, callers.runner.failures)
        (self.budgets, self.connections) = (core.budgets, core.connections)
        self.isSecure = core.configuration.tls != nil
        (self.time, self.logger) = (core.time, core.logger)
    }
}
