import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// `/v1/apps/{app}/audience`: whom a condition would reach.
struct AudiencesController: Controller {
    let store: any ProviderStore
    let time: any TimeSource

    var operations: [APIOperation] {
        [
            APIOperation(
                method: .post,
                path: "/v1/apps/{app}/audience:count",
                id: "countAudience",
                summary: "How many active devices a condition holds for.",
                tag: .audiences,
                scope: .read,
                body: BodyDescription(
                    schema: .object(required: ["audience": .audience], optional: ["environment": .environment])
                ),
                answers: [.ok(.object(required: ["count": .integer()]).named("Count"))],
                cost: .question,
                handler: self.count
            ),
            APIOperation(
                method: .post,
                path: "/v1/apps/{app}/audience:preview",
                id: "previewAudience",
                summary: "How many there are, and some of them, inactive ones too.",
                tag: .audiences,
                scope: .read,
                body: BodyDescription(
                    schema: .object(
                        required: ["audience": .audience],
                        optional: ["environment": .environment, "limit": .integer(1...1000)]
                    )
                ),
                answers: [
                    .ok(
                        .object(required: ["count": .integer(), "devices": .array(of: DeviceResponse.schema)])
                            .named("AudiencePreview")
                    )
                ],
                cost: .question,
                handler: self.preview
            ),
        ]
    }

    private struct Preview: Encodable {
        var count: Int
        var devices: [DeviceResponse]
    }

    private func count(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let fields = try await call.fields(["audience", "environment"])
        let count = try await self.store.count(
            app: app.id,
            audience: try self.audience(fields),
            environment: try fields.environment("environment")
        )
        return try JSONResponse.make(.ok, ["count": count])
    }

    private func preview(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let fields = try await call.fields(["audience", "environment", "limit"])
        let (audience, environment) = (try self.audience(fields), try fields.environment("environment"))
        let limit = Int(try fields.integer("limit", in: 1...1000) ?? 10)
        let devices = try await self.store.devices(
            app: app.id,
            audience: audience,
            environment: environment,
            after: 0,
            limit: limit
        )
        let count = try await self.store.count(app: app.id, audience: audience, environment: environment)
        return try JSONResponse.make(.ok, Preview(count: count, devices: devices.map(DeviceResponse.init)))
    }

    private func audience(_ fields: JSONFields) throws -> AudienceExpression {
        guard let members = try fields.object("audience") else {
            throw fields.refusal("audience", "missing_field", "say who, for example {\"tag\":\"beta\"}")
        }
        return try AudienceExpression(json: members, path: "audience", now: self.time.now)
    }
}
