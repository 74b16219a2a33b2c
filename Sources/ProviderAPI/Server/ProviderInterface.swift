package import Hummingbird
package import Logging
package import PushHTTP
package import PushProvider
package import PushSupport

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
    package let budgets: Budgets
    /// The connections of the listener.
    package let connections: HeldConnections
    /// Turns failures into errors that people may see.
    package let failures: FailureReporter
    /// Indicates whether the API is reached over TLS.
    package let isSecure: Bool
    package let time: any TimeSource
    package let logger: Logger

    package init(
        api: any HTTPResponder<APIContext>,
        signIn: SignInService,
        budgets: Budgets,
        connections: HeldConnections,
        failures: FailureReporter,
        isSecure: Bool,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.api, self.signIn, self.budgets, self.failures) = (api, signIn, budgets, failures)
        self.connections = connections
        (self.isSecure, self.time, self.logger) = (isSecure, time, logger)
    }
}
