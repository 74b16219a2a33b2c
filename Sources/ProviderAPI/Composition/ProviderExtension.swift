package import Hummingbird
package import Logging
package import PushHTTP
package import PushProvider
package import PushStore
package import PushSupport
package import ServiceLifecycle

/// A part of a provider that another module adds: operations of the API, routes beside it, and services.
package protocol ProviderExtension: Sendable {
    /// The controllers of its operations, whose paths begin with `/v1`.
    var controllers: [any Controller<APIScope>] { get }
    /// The services that run as long as the provider.
    var services: [any Service] { get }
    /// Adds the routes beside the API, none of which begins with `/v1/apps`.
    func addRoutes(to router: Router<APIContext>)
    /// Is called when a user or an app was marked for erasure, and again when that is asked for: the first rows are gone.
    func erasureBegan()
}

extension ProviderExtension {
    /// Keeps nothing in memory of users and apps.
    package func erasureBegan() {}
}

/// The components of a provider that an extension is made of.
package struct ProviderComponents: Sendable {
    package let configuration: ProviderConfiguration
    package let store: any ProviderStore
    package let acceptor: NotificationAcceptor
    /// The signals by which requests wait for outcomes.
    package let outcomes: OutcomeSignals
    /// The messages past the ledger, which stops count.
    package let forwards: ForwardsInFlight
    /// The runner of operations, for its keys, limits, metrics and audit.
    package let runner: OperationRunner
    /// The resolver of all names that callers give.
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

/// The parts of a provider that its pages are made of.
package struct ProviderInterface: Sendable {
    /// The REST API. A request to it names its caller in ``APIContext/caller``.
    package let api: any HTTPResponder<APIContext>
    package let signIn: SignInService
    package let budgets: BudgetRegistry
    /// The connections of the listener.
    package let connections: ConnectionLimiter
    /// Turns failures into errors that people may see.
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
