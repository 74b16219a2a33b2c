import Hummingbird
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `/v1/apps/{app}/audience`: the devices that an audience selects.
struct AudiencesController: Controller {
    let store: any ProviderStore
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let (path, limit) = ("/v1/apps/{app}/audience", Schema.integer(PageSize.range))
        let required: KeyValuePairs<String, Schema> = ["audience": .audience]
        return [
            .init(.post, "\(path):count", .readOnly, id: "countAudience", self.count)
                .summary("Counts the active devices that an audience selects, with tokens of one kind; default alert.")
                .tag(.audiences).scope(.read).cost(.query)
                .body(
                    .object(
                        required: required,
                        optional: ["environment": .environment, "kind": .choice(of: TokenKind.self)]
                    )
                )
                .responses(.ok(.object(required: ["count": .integer()]).named("Count"))),
            .init(.post, "\(path):preview", .readOnly, id: "previewAudience", self.preview)
                .summary("Counts them, and lists some of them with inactive ones.")
                .tag(.audiences).scope(.read).cost(.query)
                .body(
                    .object(
                        required: required,
                        optional: ["environment": .environment, "kind": .choice(of: TokenKind.self), "limit": limit]
                    )
                )
                .responses(.ok(AudiencePreviewResponse.schema)),
        ]
    }

    /// Counts the active devices of an audience, in one environment or in both.
    private func count(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(["audience", "environment", "kind"])
        let (audience, environment) = (try await self.audience(fields, app), try fields.environment("environment"))
        let kind = try fields.tokenKind("kind") ?? .alert
        let count = try await self.store.count(app: app.id, audience: audience, environment: environment, kind: kind)
        return try .json(["count": count])
    }

    /// Counts and lists devices. The list has inactive devices too, the number has not.
    private func preview(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(["audience", "environment", "kind", "limit"])
        let (audience, environment) = (try await self.audience(fields, app), try fields.environment("environment"))
        let kind = try fields.tokenKind("kind") ?? .alert
        let limit = Int(try fields.integer("limit", in: PageSize.range) ?? 10)
        let devices = try await self.store.devices(
            app: app.id,
            audience: audience,
            environment: environment,
            kind: kind,
            after: 0,
            limit: limit
        )
        let count = try await self.store.count(app: app.id, audience: audience, environment: environment, kind: kind)
        return try .json(AudiencePreviewResponse(count: count, devices: devices.map(DeviceResponse.init)))
    }

    /// Returns the audience in the body, which is required, so that an empty body does not select every device.
    private func audience(_ fields: JSONFields, _ app: AppRecord) async throws -> AudienceExpression {
        guard let members = try fields.object("audience") else {
            throw fields.error("audience", "missing_field", "name the devices, for example {\"tag\":\"beta\"}")
        }
        let library = try await LibraryContents(ofAudience: .object(members), app: app.id, in: self.store)
        return try AudienceExpression(
            json: members,
            path: "audience",
            now: self.time.now,
            named: library.audiences
        )
    }
}

/// The number of an audience's devices in a response, and some of them.
package struct AudiencePreviewResponse: ResponseObject {
    package let count: Int
    package let devices: [DeviceResponse]

    package static let schemaName: String? = "AudiencePreview"
    package static let members: [ResponseMember<Self>] = [
        .required("count", \.count), .required("devices", \.devices),
    ]
}
