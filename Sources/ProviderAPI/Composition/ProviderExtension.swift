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
    /// Notifies the extension that the erasure of a user or an app has begun, or is requested again, so that it can
    /// discard what it keeps in memory. By then, the first rows have been erased.
    func erasureBegan()
}

extension ProviderExtension {
    /// Does nothing, for extensions that keep no records of users and apps in memory.
    package func erasureBegan() {}
}

/// The components of a provider that an extension may use.
package struct ProviderComponents: Sendable {
    package let configuration: ProviderConfiguration
    package let store: any ProviderStore
    package let acceptor: NotificationAcceptor
    /// The signals that wake requests which wait for the outcomes of pushes.
    package let outcomes: OutcomeSignals
    /// The counter of the messages that bridges are forwarding and that are not stored as notifications. The response
    /// to the stop of an app includes those in flight.
    package let forwards: ForwardsInFlight
    /// The runner of operations, with the API keys, limits, metrics and audit trail.
    package let runner: OperationRunner
    /// The resolver of host names in URLs and addresses that callers name.
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

/// The pages that the listener serves in addition to the REST API.
package protocol ProviderPages: Sendable {
    /// Adds the routes of all pages, none of which begins with `/v1`.
    func addRoutes(to router: Router<APIContext>)
}

/// The components of a provider that its pages may use.
package struct ProviderInterface: Sendable {
    /// The responder of the REST API. A page calls it within the process and names its caller in ``APIContext/caller``.
    package let api: any HTTPResponder<APIContext>
    package let signIn: SignInService
    package let budgets: BudgetRegistry
    /// The limiter of the listener's connections. Pages assign a connection to the account of its caller.
    package let connections: ConnectionLimiter
    /// The reporter that logs failures and converts them into errors that may be displayed, without internal details.
    package let failures: FailureReporter
    /// A Boolean value that indicates whether the listener uses TLS.
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
