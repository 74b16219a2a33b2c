import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// What was done to tokens, and the breaker that stops it.
struct TokenStateController: Controller {
    let store: any ProviderStore
    let hygiene: TokenInvalidationPolicy
    let time: any TimeSource

    private struct Health: Encodable {
        var environment: String
        /// `open` while tokens are not deactivated.
        var breaker: String
        var sinceMs: Int64?
        var reason: String?
    }

    private static let health = Schema.list(
        "environments",
        of: .object(
            required: [
                "environment": .environment,
                "breaker": .choice(["closed", "open"]).described("open: tokens are not deactivated."),
            ],
            optional: ["sinceMs": .moment, "reason": .string()]
        )
    ).named("Hygiene")

    var operations: [APIOperation] {
        [
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}/tokens/events",
                id: "listTokenEvents",
                summary: "What was done to which token and why, newest first.",
                tag: .hygiene,
                scope: .read,
                parameters: [
                    ParameterDescription(
                        name: "action",
                        summary: "Of this kind.",
                        schema: .choice(TokenEventRecord.Action.allCases.map(\.rawValue))
                    ),
                    ParameterDescription(
                        name: "token",
                        summary: "Of this token, hexadecimal.",
                        schema: .string(length: 2...1024, pattern: "^([0-9A-Fa-f]{2})+$")
                    ), .cursor, .limit(),
                ],
                answers: [.ok(TokenEventListResponse.schema)],
                cost: .question,
                handler: self.events
            ),
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}/hygiene",
                id: "showHygiene",
                summary: "Whether tokens are deactivated, per environment.",
                tag: .hygiene,
                scope: .read,
                answers: [.ok(Self.health)],
                handler: self.show
            ), self.settle("apply", "Deactivates what was withheld, and closes the breaker.", deactivates: true),
            self.settle("discard", "Keeps what was withheld alive, and closes the breaker.", deactivates: false),
        ]
    }

    private func settle(_ word: String, _ summary: String, deactivates: Bool) -> APIOperation {
        APIOperation(
            method: .post,
            path: "/v1/apps/{app}/hygiene/{environment}:\(word)",
            id: "\(word)Withheld",
            summary: summary,
            tag: .hygiene,
            scope: .admin,
            answers: [.ok(.object(required: ["tokens": .integer()]).named("Settled"), "How many tokens it were.")],
            isAudited: true
        ) { call in
            let environment = try call.pathEnvironment()
            let app = try await call.app(self.store)
            let tokens = try await self.store.settleWithheld(
                app: app.id,
                environment: environment,
                deactivates: deactivates,
                now: self.time.now
            )
            self.hygiene.forget(app: app.id)
            return try JSONResponse.make(.ok, ["tokens": tokens])
        }
    }

    private func events(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let limit = try call.limit()
        let events = try await self.store.tokenEvents(
            app: app.id,
            token: try call.queryToken(),
            action: try call.choice("action", TokenEventRecord.Action.self),
            before: try call.cursor(.tokenEvents),
            limit: limit
        )
        return try JSONResponse.make(.ok, TokenEventListResponse(events, limit: limit))
    }

    private func show(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        var all: [Health] = []
        for environment in PushEnvironment.allCases {
            let health = try await self.store.health(app: app.id, environment: environment)
            all.append(
                Health(
                    environment: environment.rawValue,
                    breaker: health.breakerOpenSince == nil ? "closed" : "open",
                    sinceMs: health.breakerOpenSince?.milliseconds,
                    reason: health.breakerReason
                )
            )
        }
        return try JSONResponse.make(.ok, ["environments": all])
    }
}
