import Foundation
import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The operations at `/v1/apps/{app}/templates`, for named and versioned content that notifications and schedules use.
struct TemplatesController: Controller {
    private let store: any AppStore & DeviceStore & LibraryStore & UserStore
    private let items: LibraryOperations
    private let time: any TimeSource

    /// Creates the controller. `turns` is the budget that makes long lists be encoded one after the other.
    init(store: any AppStore & DeviceStore & LibraryStore & UserStore, turns: Budget, time: any TimeSource) {
        self.items = LibraryOperations(kind: .template, store: store, turns: turns, time: time)
        (self.store, self.time) = (store, time)
    }

    var operations: [ProviderOperation] {
        let own: [ProviderOperation] = [
            .init(.post, "/v1/apps/{app}/templates", .audited, id: "addTemplate", "Adds a template.") {
                try await self.save($0, isNew: true)
            }
            .scope(.send).body(TemplateRequest.objects.new.schema).responses(.created(TemplateResponse.schema))
            .errors(.conflict),
            .init(.put, self.items.path, .audited, id: "saveTemplate") { try await self.save($0, isNew: false) }
                .summary("Adds a version of a template, or a template of that name.")
                .scope(.send).body(TemplateRequest.objects.saved.schema)
                .responses(.ok(TemplateResponse.schema), .created(TemplateResponse.schema)).errors(.conflict),
            .init(.post, "\(self.items.path):preview", .readOnly, id: "previewTemplate", self.preview)
                .summary("Renders a template for a device or a user; sends nothing.")
                .scope(.read).body(PreviewRequest.template.schema)
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
            TemplateRequest.objects,
            member: TemplateRequest.content.name
        ) { fields, app in
            let content = try TemplateRequest.content(fields)
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
        let fields = try await request.fields(PreviewRequest.template)
        var reference: [String: JSONValue] = ["id": .string(item.id.uuidString)]
        for member in PreviewRequest.reference { reference[member.name] = fields.members[member.name] }
        let wanted: [String: JSONValue] = ["template": .object(reference), "to": .object(["all": .bool(true)])]
        let named = try JSONFields(members: wanted, path: nil, known: NotificationRequest.object.known)
        let notification = try await self.read(named, of: app)
        let subject = try await PreviewSubjectResolver(store: self.store).subject(fields, app, notification.content)
        return try .json(PreviewResponse(notification, bundleID: app.bundleID, for: subject))
    }

    /// Reads the notification that previews a template. Its content is that of the template in the body of the request.
    /// - Throws: ``RequestError`` whose path names a member of the body, without the prefix `template.`.
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
