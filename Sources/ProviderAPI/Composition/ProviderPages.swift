package import Hummingbird
package import Logging
package import PushHTTP
package import PushProvider
package import PushSupport

/// The pages that the listener serves in addition to the REST API.
package protocol ProviderPages: Sendable {
    /// Adds the routes of all pages, none of which begins with `/v1`.
    func addRoutes(to router: Router<APIContext>)
}

/// The parts of a provider that its pages use.
package struct PageComponents: Sendable {
    /// The responder of the REST API. A page calls it within the process and names its caller in ``APIContext/caller``.
    package let api: any HTTPResponder<APIContext>
    package let signIn: SignInService
    package let budgets: BudgetRegistry
    package let connections: ConnectionLimiter
    /// The reporter that logs failures and converts them into errors for people, without internal details.
    package let failures: FailureReporter
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
