package import ProviderModel
package import PushHTTP
import PushSupport
import PushTypes

/// A response object for an item of the library: a named audience or a template.
package protocol LibraryResponse: ResponseObject {
    var record: LibraryItem { get }
}

private struct LibraryItemResponse: ResponseObject {
    let item: LibraryItem
    let app: Topic

    static let members: [ResponseMember<Self>] = [
        .required("id", \.item.id),
        .required("app", \.app),
        .required("name", \.item.name),
        .optional("description", \.item.description),
        .required("version", \.item.version, "Rises with every change."),
        .required("createdAtMs", \.item.createdAt),
        .optional("createdBy", \.item.createdBy),
        .required("changedAtMs", \.item.changedAt),
        .optional("changedBy", \.item.changedBy),
    ]
}

/// The response object for a named audience, with its condition.
package struct NamedAudienceResponse: LibraryResponse {
    private let item: LibraryItemResponse
    package var record: LibraryItem { self.item.item }
    private var condition: JSONValue { .object(self.record.body) }

    init(_ item: LibraryItem, app: Topic) { self.item = LibraryItemResponse(item: item, app: app) }

    package static let schemaName: String? = "NamedAudience"
    package static let members =
        LibraryItemResponse.members.map { $0.within(\Self.item) } + [
            .required(
                "audience",
                \.condition,
                as: AudienceExpression.object.schema,
                "As it was saved: `withinDays` counts from each use."
            )
        ]
}

/// The response object for a template, with its content.
package struct TemplateResponse: LibraryResponse {
    private let item: LibraryItemResponse
    /// The warnings about the content, or `nil` if there are none or the request does not save the template.
    private let warnings: [ContentWarning]?
    package var record: LibraryItem { self.item.item }
    private var content: JSONValue { .object(self.record.body) }

    init(_ item: LibraryItem, app: Topic, warnings: [ContentWarning]? = nil) {
        self.item = LibraryItemResponse(item: item, app: app)
        self.warnings = warnings?.isEmpty == true ? nil : warnings
    }

    package static let schemaName: String? = "Template"
    package static let members =
        LibraryItemResponse.members.map { $0.within(\Self.item) } + [
            .required("content", \.content, "The members of the content, as those of a notification."),
            .optional("warnings", \.warnings),
        ]
}

/// A named audience or a template in a list of names.
package struct LibraryNameResponse: ResponseObject {
    package let entry: LibraryEntry

    package static let schemaName: String? = "LibraryName"
    package static let members: [ResponseMember<Self>] = [.required("id", \.entry.id), .required("name", \.entry.name)]
}

/// A saved version of a named audience or a template, which may be an earlier one.
package struct LibraryVersionResponse: ResponseObject {
    package let version: LibraryVersion
    let kind: LibraryItem.Kind

    private var condition: JSONValue? { self.kind == .audience ? .object(self.version.body) : nil }
    private var content: JSONValue? { self.kind == .template ? .object(self.version.body) : nil }

    package static let schemaName: String? = "LibraryVersion"
    package static let members: [ResponseMember<Self>] = [
        .required("version", \.version.version),
        .required("name", \.version.name, "The name at that time."),
        .optional("description", \.version.description),
        .optional("audience", \.condition, "Of an audience."),
        .optional("content", \.content, "Of a template."),
        .required("atMs", \.version.at),
        .optional("by", \.version.by),
        .optional("restoredFrom", \.version.restoredFrom, "The version whose contents it has again."),
    ]
}
