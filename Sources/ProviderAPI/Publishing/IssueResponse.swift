import PushHTTP
import PushProvider
import PushStore
import PushTypes

/// An issue in a response.
struct IssueResponse: ResponseObject {
    let issue: IssueRecord
    /// The warnings, which only the response to a change has.
    var warnings: [ContentWarning]?
    /// The number of pushes that could not be taken back, which only the response to a withdrawal has.
    var underWay: Int?

    private var date: String { self.issue.date.description }
    private var cover: FileResponse? { self.issue.cover.map(FileResponse.init) }
    private var renditions: [RenditionResponse] { self.issue.renditions.map(RenditionResponse.init) }

    static let schemaName: String? = "Issue"
    static let members: [ResponseMember<Self>] = [
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
struct FileResponse: ResponseObject {
    let file: FileRecord

    private var hash: String { self.file.hash.hex }

    static let schemaName: String? = "File"
    static let members: [ResponseMember<Self>] = [
        .required("sha256", \.hash, as: .contentHash),
        .required("size", \.file.size, "In bytes."),
        .required("contentType", \.file.contentType),
        .required("name", \.file.name, "The name that it had when it was uploaded."),
        .required("createdAtMs", \.file.createdAt),
        .optional("unusedSinceMs", \.file.unusedSince, "The time since which no issue uses it."),
    ]
}

/// The file of an issue for a screen size.
struct RenditionResponse: ResponseObject {
    let rendition: RenditionRecord

    private var size: String { self.rendition.screenSize.description }
    private var file: FileResponse { FileResponse(file: self.rendition.file) }

    static let schemaName: String? = "Rendition"
    static let members: [ResponseMember<Self>] = [
        .required("screenSize", \.size, "The longer side first."), .required("file", \.file),
    ]
}
