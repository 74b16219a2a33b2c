import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `/v1/apps/{app}/audiences`: audiences with a name, which notifications and schedules refer to.
struct NamedAudiencesController: Controller {
    private let items: LibraryOperations
    private let time: any TimeSource

    /// - Parameter turns: The turns in which long lists are encoded.
    init(store: any AppStore & LibraryStore, turns: Budget, time: any TimeSource) {
        self.items = LibraryOperations(kind: .audience, store: store, turns: turns, time: time)
        self.time = time
    }

    static let bodies = LibraryOperations.Bodies(Member.audience)

    var operations: [ProviderOperation] {
        let own: [ProviderOperation] = [
            .init(.post, "/v1/apps/{app}/audiences", .audited, id: "addAudience", "Adds a named audience.") {
                try await self.save($0, isNew: true)
            }
            .scope(.send).body(Self.bodies.new.schema)
            .responses(.created(NamedAudienceResponse.schema)).errors(.conflict),
            .init(.put, self.items.path, .audited, id: "saveAudience") { try await self.save($0, isNew: false) }
                .summary("Replaces a named audience, or adds one of that name.")
                .scope(.send).body(Self.bodies.saved.schema)
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
            Self.bodies,
            member: Member.audience.name
        ) { fields, _ in
            guard let members = try fields.value(Member.audience) else {
                throw fields.error("audience", "missing_field", "name the devices, for example {\"tag\":\"beta\"}")
            }
            _ = try AudienceExpression(json: members, path: "audience", now: self.time.now, named: nil)
            return members
        }
        return try .json(NamedAudienceResponse(item, app: app.bundleID), status: isNew ? .created : .ok)
    }
}
