package import PushHTTP
import PushProvider
package import PushStore
import PushTypes

/// An issue in a response.
package struct IssueResponse: ResponseObject {
    package let issue: IssueRecord
    /// The warnings, which only the response to a change has.
    var warnings: [ContentWarning]?
    /// The number of pushes that could not be taken back, which only the response to a withdrawal has.
    var underWay: Int?

    private var date: String { self.issue.date.description }
    package var cover: FileResponse? { self.issue.cover.map(FileResponse.init) }
    package var renditions: [RenditionResponse] { self.issue.renditions.map(RenditionResponse.init) }

    package static let schemaName: String? = "Issue"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.issue.id),
        .required("publication", \.issue.publication),
        .required("productId", \.issue.productID),
        .required("title", \.issue.title),
        .optional("number", \.issue.number, "The number that readers see."),
        .required("date", \.date, as: .date),
        .required("state", \.issue.state),
        .required("access", \.issue.access),
        .optional("cover", \.cover),
        .required("renditions", \.renditions, "The files by screen size, the smallest first."),
        .optional("notification", \.issue.notification, "The notification of its latest Notify."),
        .required("createdAtMs", \.issue.createdAt),
        .optional("publishedAtMs", \.issue.publishedAt, "The time of its latest publication."),
        .optional("warnings", \.warnings, "Only of publishing."),
        .optional(
            "underWay",
            \.underWay,
            "The pushes of its notification that a withdrawal could not take back: the last ones."
        ),
    ]
}

extension IssueState: JSONRepresentable {}
extension IssueAccess: JSONRepresentable {}

/// A file in a response.
package struct FileResponse: ResponseObject {
    package let file: FileRecord

    package var hash: String { self.file.hash.hex }

    package static let schemaName: String? = "File"
    package static let members: [ResponseMember<Self>] = [
        .required("sha256", \.hash, as: .contentHash),
        .required("size", \.file.size, "In bytes."),
        .required("contentType", \.file.contentType),
        .required("name", \.file.name, "The name that it had when it was uploaded."),
        .required("createdAtMs", \.file.createdAt),
        .optional("unusedSinceMs", \.file.unusedSince, "The time since which no issue uses it."),
    ]
}

/// The file of an issue for a screen size.
package struct RenditionResponse: ResponseObject {
    let rendition: RenditionRecord

    package var size: String { self.rendition.screenSize.description }
    package var file: FileResponse { FileResponse(file: self.rendition.file) }

    package static let schemaName: String? = "Rendition"
    package static let members: [ResponseMember<Self>] = [
        .required("screenSize", \.size, "The longer side first."), .required("file", \.file),
    ]
}
