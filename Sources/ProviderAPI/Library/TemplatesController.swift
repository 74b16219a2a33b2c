import Foundation
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `/v1/apps/{app}/templates`: contents with a name and versions, which notifications and schedules refer to.
struct TemplatesController: Controller {
    private let store: any AppStore & DeviceStore & LibraryStore & UserStore
    private let items: LibraryItems
    private let time: any TimeSource

    /// - Parameter turns: The turns in which long lists are encoded.
    init(store: any AppStore & DeviceStore & LibraryStore & UserStore, turns: Budget, time: any TimeSource) {
        self.items = LibraryItems(kind: .template, store: store, turns: turns, time: time)
        (self.store, self.time) = (store, time)
    }

    var operations: [ProviderOperation] {
        let content = Schema.object(isOpen: true)
            .described("The members of the content, as those of a notification; see docs/content.md.")
        let members = LibraryItems.members.map { $0 }
        let new = Schema.object(
            required: [("name", LibraryItems.nameSchema), ("content", content)],
            optional: members
        )
        let saved = Schema.object(
            required: [("content", content)],
            optional: [("name", LibraryItems.nameSchema.described("Renames it. No UUID."))] + members
        )
        let preview = Schema.object(
            required: [(key: String, value: Schema)](),
            optional: [
                ("version", Schema.integer(1...Int64.max).described("Default the newest.")),
                ("variables", .map(of: .variable)),
            ] + PreviewSubjects.schemas
        )
        let own: [ProviderOperation] = [
            .init(.post, "/v1/apps/{app}/templates", .audited, id: "addTemplate", "Adds a template.") {
                try await self.save($0, isNew: true)
            }
            .scope(.send).body(new).responses(.created(TemplateResponse.schema)).errors(.conflict),
            .init(.put, self.items.path, .audited, id: "saveTemplate") { try await self.save($0, isNew: false) }
                .summary("Adds a version of a template, or a template of that name.")
                .scope(.send).body(saved)
                .responses(.ok(TemplateResponse.schema), .created(TemplateResponse.schema)).errors(.conflict),
            .init(.post, "\(self.items.path):preview", .readOnly, id: "previewTemplate", self.preview)
                .summary("Renders a template for a device or a user; sends nothing.")
                .scope(.read).body(preview).responses(.ok(PreviewResponse.schema, "The push that would be sent.")),
        ]
        let common = self.items.operations(TemplateResponse.self) { TemplateResponse($0, app: $1.bundleID) }
        return (own + common).map { $0.tag(.templates) }
    }

    private func save(_ request: OperationRequest, isNew: Bool) async throws -> Response {
        var warnings: [ContentWarning] = []
        let (item, app, isNew) = try await self.items.save(request, isNew: isNew, member: "content") { fields, app in
            guard let content = try fields.fields("content", known: NotificationContent.members) else {
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
        let fields = try await request.fields(PreviewSubjects.members.union(["version", "variables"]))
        var reference: [String: JSONValue] = ["id": .string(item.id.uuidString)]
        for name in ["version", "variables"] { reference[name] = fields.members[name] }
        let wanted: [String: JSONValue] = ["template": .object(reference), "to": .object(["all": .bool(true)])]
        let named = try JSONFields(members: wanted, path: nil, known: NotificationRequest.members)
        let notification = try await NotificationRequest.read(named, of: app, now: self.time.now, in: self.store)
        let subject = try await PreviewSubjects(store: self.store).subject(fields, app, notification.content)
        return try .json(PreviewResponse(notification, bundleID: app.bundleID, for: subject))
    }
}
