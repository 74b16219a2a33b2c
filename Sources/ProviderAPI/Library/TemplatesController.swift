import Foundation
import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `/v1/apps/{app}/templates`: contents with a name and versions, which notifications and schedules refer to.
struct TemplatesController: Controller {
    private let store: any AppStore & DeviceStore & LibraryStore & UserStore
    private let items: LibraryOperations
    private let time: any TimeSource

    /// - Parameter turns: The budget of long lists, which are encoded one after the other.
    init(store: any AppStore & DeviceStore & LibraryStore & UserStore, turns: Budget, time: any TimeSource) {
        self.items = LibraryOperations(kind: .template, store: store, turns: turns, time: time)
        (self.store, self.time) = (store, time)
    }

    private static let content = RequestMember<JSONFields>(
        "content",
        .object(isOpen: true)
            .described("The members of the content, as those of a notification; see docs/content.md.")
    ) { (fields, name) throws(RequestError) in try fields.fields(name, known: NotificationContent.object.known) }
    static let bodies = LibraryOperations.Bodies(Self.content)
    private static let reference: [any ObjectMember] = [TemplateReference.versionMember, TemplateVariables.member]
    static let previewRequest = RequestObject(optional: Self.reference, PreviewSubjectResolver.members)

    var operations: [ProviderOperation] {
        let own: [ProviderOperation] = [
            .init(.post, "/v1/apps/{app}/templates", .audited, id: "addTemplate", "Adds a template.") {
                try await self.save($0, isNew: true)
            }
            .scope(.send).body(Self.bodies.new.schema).responses(.created(TemplateResponse.schema)).errors(.conflict),
            .init(.put, self.items.path, .audited, id: "saveTemplate") { try await self.save($0, isNew: false) }
                .summary("Adds a version of a template, or a template of that name.")
                .scope(.send).body(Self.bodies.saved.schema)
                .responses(.ok(TemplateResponse.schema), .created(TemplateResponse.schema)).errors(.conflict),
            .init(.post, "\(self.items.path):preview", .readOnly, id: "previewTemplate", self.preview)
                .summary("Renders a template for a device or a user; sends nothing.")
                .scope(.read).body(Self.previewRequest.schema)
                .responses(.ok(PreviewResponse.schema, "The push that would be sent.")),
        ]
        let common = self.items.operations(TemplateResponse.self) { TemplateResponse($0, app: $1.bundleID) }
        return (own + common).map { $0.tag(.templates) }
    }

    private func save(_ request: OperationRequest, isNew: Bool) async throws -> Response {
        var warnings: [ContentWarning] = []
        let (item, app, isNew) = try await self.items.save(
            request,
            isNew: isNew,
            Self.bodies,
            member: Self.content.name
        ) { fields, app in
            guard let content = try fields.value(Self.content) else {
                throw fields.error("content", "missing_field", "name the content, for example {\"alert\":\"Hi\"}")
            }
            if let expiration = content.members["expiration"], expiration != .integer(0) {
                let message = "one time cannot suit every use: take expiresIn, or 0"
                throw content.error("expiration", "conflicting_field", message)
            }
            warnings = try NotificationContent.read(
                content,
                bundleID: app.bundleID,
                now: self.time.now,
                receipts: app.receipts
            ).warnings
            return content.members
        }
        let response = TemplateResponse(item, app: app.bundleID, warnings: warnings)
        return try .json(response, status: isNew ? .created : .ok)
    }

    private func preview(_ request: OperationRequest) async throws -> Response {
        let (item, app) = try await self.items.item(request)
        let fields = try await request.fields(Self.previewRequest)
        var reference: [String: JSONValue] = ["id": .string(item.id.uuidString)]
        for member in Self.reference { reference[member.name] = fields.members[member.name] }
        let wanted: [String: JSONValue] = ["template": .object(reference), "to": .object(["all": .bool(true)])]
        let named = try JSONFields(members: wanted, path: nil, known: NotificationRequest.object.known)
        let notification = try await self.read(named, of: app)
        let subject = try await PreviewSubjectResolver(store: self.store).subject(fields, app, notification.content)
        return try .json(PreviewResponse(notification, bundleID: app.bundleID, for: subject))
    }

    /// Reads the notification that a preview makes of a template. Its member `template` has the members of the
    /// preview's body.
    /// - Throws: ``RequestError`` that names a member of the preview's body.
    private func read(_ fields: JSONFields, of app: AppRecord) async throws -> NotificationRequest {
        do {
            return try await NotificationRequest.read(fields, of: app, now: self.time.now, in: self.store)
        } catch var error as RequestError {
            let place = "template."
            if let path = error.path, path.hasPrefix(place) { error.path = String(path.dropFirst(place.count)) }
            throw error
        }
    }
}
