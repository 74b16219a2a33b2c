import Hummingbird
import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations at `/v1/apps/{app}/audience`, which count and preview the devices that an audience selects.
struct AudiencesController: Controller {
    let store: any AppStore & DeviceStore & LibraryStore
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/audience"
        return [
            .init(.post, "\(path):count", .readOnly, id: "countAudience", self.count)
                .summary("Counts the active devices that an audience selects, with tokens of one kind; default alert.")
                .tag(.audiences).scope(.read).cost(.query).body(AudienceRequest.count.schema)
                .responses(.ok(.object(required: [("count", .integer())]).named("Count"))),
            .init(.post, "\(path):preview", .readOnly, id: "previewAudience", self.preview)
                .summary("Counts them, and lists some of them with inactive ones.")
                .tag(.audiences).scope(.read).cost(.query).body(AudienceRequest.preview.schema)
                .responses(.ok(AudiencePreviewResponse.schema)),
        ]
    }

    /// Counts the active devices that an audience selects, in the environment that the body names, or in both.
    private func count(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(AudienceRequest.count)
        let (audience, environment, kind) = try await self.conditions(fields, app)
        let count = try await self.store.count(app: app.id, audience: audience, environment: environment, kind: kind)
        return try .json(["count": count])
    }

    /// Counts and lists devices that an audience selects, by default 10. The list includes inactive devices, but the
    /// number does not.
    private func preview(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(AudienceRequest.preview)
        let (audience, environment, kind) = try await self.conditions(fields, app)
        let limit = Int(try fields.value(AudienceRequest.limit) ?? 10)
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

    /// Returns the conditions in the body: the audience, the environment (`nil` for both) and the kind of token, by
    /// default alert tokens.
    private func conditions(
        _ fields: JSONFields,
        _ app: AppRecord
    ) async throws -> (AudienceExpression, PushEnvironment?, DeviceTokenKind) {
        let members = try AudienceRequest.members(fields)
        let library = try await LibraryContents(ofAudience: .object(members), app: app.id, in: self.store)
        let audience = try AudienceExpression(
            json: members,
            path: "audience",
            now: self.time.now,
            named: library.audiences
        )
        return (audience, try fields.value(Member.environment), try fields.value(Member.tokenKind) ?? .alert)
    }
}

/// The response body for the preview of an audience: the number of its devices, and some of them.
package struct AudiencePreviewResponse: ResponseObject {
    package let count: Int
    package let devices: [DeviceResponse]

    package static let schemaName: String? = "AudiencePreview"
    package static let members: [ResponseMember<Self>] = [
        .required("count", \.count), .required("devices", \.devices),
    ]
}

/// The operations at `/v1/apps/{app}/audiences`, which manage named audiences for notifications and schedules.
struct NamedAudiencesController: Controller {
    private let items: LibraryOperations
    private let time: any TimeSource

    /// Creates the controller. `turns` is the budget that makes long lists be encoded one after the other.
    init(store: any AppStore & LibraryStore, turns: Budget, time: any TimeSource) {
        self.items = LibraryOperations(kind: .audience, store: store, turns: turns, time: time)
        self.time = time
    }

    var operations: [ProviderOperation] {
        let own: [ProviderOperation] = [
            .init(.post, "/v1/apps/{app}/audiences", .audited, id: "addAudience", "Adds a named audience.") {
                try await self.save($0, isNew: true)
            }
            .scope(.send).body(AudienceRequest.named.new.schema)
            .responses(.created(NamedAudienceResponse.schema)).errors(.conflict),
            .init(.put, self.items.path, .audited, id: "saveAudience") { try await self.save($0, isNew: false) }
                .summary("Replaces a named audience, or adds one of that name.")
                .scope(.send).body(AudienceRequest.named.saved.schema)
                .responses(.ok(NamedAudienceResponse.schema), .created(NamedAudienceResponse.schema))
                .errors(.conflict),
        ]
        let common = self.items.operations(NamedAudienceResponse.self) {
            NamedAudienceResponse($0, app: $1.bundleID)
        }
        return (own + common).map { $0.tag(.audiences) }
    }

    private func save(_ request: OperationRequest, isNew: Bool) async throws -> Response {
        let (item, app, isNew) = try await self.items.save(
            request,
            isNew: isNew,
            AudienceRequest.named,
            member: AudienceRequest.audience.name
        ) { fields, _ in
            let members = try AudienceRequest.members(fields)
            _ = try AudienceExpression(json: members, path: "audience", now: self.time.now, named: nil)
            return members
        }
        return try .json(NamedAudienceResponse(item, app: app.bundleID), status: isNew ? .created : .ok)
    }
}
