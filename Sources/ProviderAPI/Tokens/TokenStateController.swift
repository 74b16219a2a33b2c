import Hummingbird
import Logging
package import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations at `/v1/apps/{app}/hygiene` and `tokens/events`, for deactivated device tokens and the circuit
/// breaker that limits their deactivation.
struct TokenStateController: Controller {
    let store: any AppStore & TokenStateStore
    let invalidation: TokenInvalidationPolicy
    let time: any TimeSource
    let logger: Logger

    var operations: [ProviderOperation] {
        [
            .init(.get, "/v1/apps/{app}/tokens/events", id: "listTokenEvents", self.events)
                .summary("The events of tokens with their reasons, newest first.")
                .tag(.tokens).scope(.read).cost(.query)
                .parameters(
                    .query("action", "Of this kind.", .choice(of: TokenEventRecord.Action.self)),
                    .query("token", "Of this token, hexadecimal.", .deviceToken),
                    .cursor,
                    .limit()
                )
                .responses(.ok(.page("events", of: TokenEventResponse.schema))).reservingPage(ofEntries: 256),
            .init(.get, "/v1/apps/{app}/hygiene", id: "showHygiene", self.show)
                .summary("The state of the circuit breaker, per environment.")
                .tag(.tokens).scope(.read).cost(.query)
                .responses(.ok(.list("environments", of: BreakerResponse.schema).named("Hygiene"))),
            self.settle("apply", "Deactivates the withheld tokens, and closes the breaker.", deactivates: true),
            self.settle("discard", "Keeps the withheld tokens active, and closes the breaker.", deactivates: false),
        ]
    }

    /// Returns the operation that settles the deactivations that the open circuit breaker has withheld in one
    /// environment. It closes the breaker.
    /// - Parameter deactivates: Pass `true` to deactivate the tokens, and `false` to keep them active.
    private func settle(_ name: String, _ summary: String, deactivates: Bool) -> ProviderOperation {
        .init(.post, "/v1/apps/{app}/hygiene/{environment}:\(name)", .audited, id: "\(name)Withheld", summary) {
            request in
            let environment = try request.pathEnvironment()
            let app = try await request.app(self.store)
            let tokens = try await self.store.settleWithheld(
                app: app.id,
                environment: environment,
                deactivates: deactivates,
                now: self.time.now
            )
            self.invalidation.forget(app: app.id)
            self.logger.info(
                "breaker closed",
                metadata: [
                    "app": "\(app.bundleID.name)", "environment": "\(environment.rawValue)", "decision": "\(name)",
                    "tokens": "\(tokens)",
                ]
            )
            return try .json(["tokens": tokens])
        }
        .tag(.tokens).scope(.operate)
        .responses(.ok(.object(required: [("tokens", .integer())]).named("Settled"), "The number of tokens."))
    }

    private func events(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let page = try request.page(.tokenEvents)
        let events = try await self.store.tokenEvents(
            app: app.id,
            token: request.queryToken(),
            action: request.choice("action", TokenEventRecord.Action.self),
            before: page.after,
            limit: page.limit
        )
        return try .page("events", events.map(TokenEventResponse.init), next: page.next(after: events, \.id))
    }

    /// Responds with the state of both environments, even of one without a credential.
    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        var all: [BreakerResponse] = []
        for environment in PushEnvironment.allCases {
            let health = try await self.store.health(app: app.id, environment: environment)
            let withheld =
                health.breakerOpenSince == nil
                ? nil : try await self.store.withheldTokens(app: app.id, environment: environment)
            all.append(BreakerResponse(environment: environment, health: health, withheld: withheld))
        }
        return try .page("environments", all)
    }
}

/// The response object for the circuit breaker of device tokens in one environment. While it is open, `withheld` is the
/// number of tokens whose deactivation waits for a decision. Otherwise, it is `nil`.
package struct BreakerResponse: ResponseObject {
    let environment: PushEnvironment
    let health: EnvironmentHealth
    package let withheld: Int?

    package var breaker: String { self.health.breakerOpenSince == nil ? "closed" : "open" }

    package static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("breaker", \.breaker, as: .choice(["closed", "open"]), "open: no token is deactivated."),
        .optional("sinceMs", \.health.breakerOpenSince),
        .optional("reason", \.health.breakerReason),
        .optional("withheld", \.withheld, "While it is open, the tokens that wait for a decision."),
    ]
}

extension TokenEventRecord.Action: JSONRepresentable {}

/// The response object for a token event: a change to a token, with its reason.
package struct TokenEventResponse: ResponseObject {
    package let event: TokenEventRecord

    package static let schemaName: String? = "TokenEvent"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.event.id),
        .required("action", \.event.action),
        .required("deviceId", \.event.device),
        .required("token", \.event.token.hex),
        .required("environment", \.event.environment),
        .optional("reason", \.event.reason),
        .optional("notification", \.event.notification),
        .required("atMs", \.event.at),
    ]
}
