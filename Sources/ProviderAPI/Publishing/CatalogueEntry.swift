package import ProviderModel
package import PushHTTP
import PushProvider
import PushSupport

/// An issue in the catalogue, as apps receive it.
package struct CatalogueEntry: ResponseObject {
    package let issue: IssueRecord
    let publicationName: String
    /// The signed URL of the cover, or `nil` without a cover.
    package var coverAddress: String?

    private var cover: Cover? {
        guard let file = self.issue.cover, let address = self.coverAddress else { return nil }
        return Cover(file: file, address: address)
    }
    private var renditions: [Size] { self.issue.renditions.map { Size(rendition: $0) } }

    package static let schemaName: String? = "CatalogueEntry"
    package static let members: [ResponseMember<Self>] = [
        .required("productId", \.issue.productID),
        .required("publication", \.issue.publication),
        .required("publicationName", \.publicationName),
        .required("title", \.issue.title),
        .optional("number", \.issue.number, "The number that readers see."),
        .required("date", \.issue.date.description, as: .date),
        .required("access", \.issue.access),
        .optional("publishedAtMs", \.issue.publishedAt),
        .optional("cover", \.cover),
        .required("renditions", \.renditions, "The sizes, the smallest first."),
    ]

    private struct Cover: ResponseObject {
        let file: FileRecord
        let address: String

        static let members: [ResponseMember<Self>] = [
            .required("url", \.address, "Relative to the address of the provider."),
            .required("size", \.file.size), .required("sha256", \.file.hash.hex, as: .contentHash),
            .required("contentType", \.file.contentType),
        ]
    }

    /// The response object for the size of a rendition, without its URL.
    private struct Size: ResponseObject {
        let rendition: RenditionRecord

        static let members: [ResponseMember<Self>] = [
            .required("screenSize", \.rendition.screenSize.description), .required("size", \.rendition.file.size),
            .required("sha256", \.rendition.file.hash.hex, as: .contentHash),
        ]
    }
}

extension EntitlementGrounds: JSONRepresentable {}

/// The response object for the decision whether a reader is entitled to one product.
struct EntitlementResponse: ResponseObject {
    /// The error code in place of a decision that cannot be made at present. A later request may obtain it.
    static let unavailable = "entitlement_unavailable"

    let productID: String
    let isEntitled: Bool
    private var grounds: EntitlementGrounds?
    private var reason: String?
    private var message: String?
    private var retryAfter: Int?

    init(_ productID: String, _ decision: EntitlementDecision) {
        self.productID = productID
        switch decision {
        case .entitled(let grounds): (self.isEntitled, self.grounds) = (true, grounds)
        case .refused(let reason, let message): (self.isEntitled, self.reason, self.message) = (false, reason, message)
        case .unavailable(let message, let delay):
            (self.isEntitled, self.reason, self.message) = (false, Self.unavailable, message)
            self.retryAfter = max(1, Int(delay.components.seconds))
        case .tooMany(let refusal):
            let error = refusal.error
            (self.isEntitled, self.reason, self.message) = (false, error.error.code, error.error.message)
            self.retryAfter = max(1, Int(error.delay.components.seconds))
        }
    }

    static let schemaName: String? = "Entitlement"
    static let members: [ResponseMember<Self>] = [
        .required("productId", \.productID),
        .required("entitled", \.isEntitled),
        .optional("by", \.grounds),
        .optional(
            "reason",
            \.reason,
            "The code of a refusal; \(Self.unavailable), too_many_questions or too_many_requests where asking later may help."
        ),
        .optional("message", \.message),
        .optional("retryAfterSeconds", \.retryAfter, "Where asking again later may help."),
    ]
}

/// The response body with the signed URL of a rendition.
struct DownloadResponse: ResponseObject {
    let issue: IssueRecord
    let rendition: RenditionRecord
    /// A Boolean value that indicates whether the rendition has exactly the requested screen size. Otherwise, it has
    /// the next smaller one.
    let isExact: Bool
    let grounds: EntitlementGrounds
    let address: FileAddresses.Address

    static let schemaName: String? = "Download"
    static let members: [ResponseMember<Self>] = [
        .required("productId", \.issue.productID),
        .required("url", \.address.text, "Relative to the address of the provider."),
        .required("size", \.rendition.file.size, "In bytes."),
        .required("sha256", \.rendition.file.hash.hex, as: .contentHash),
        .required("contentType", \.rendition.file.contentType),
        .required("screenSize", \.rendition.screenSize.description, "That of the rendition."),
        .required("match", { $0.isExact ? "exact" : "smaller" }, as: .choice(["exact", "smaller"])),
        .required("entitledBy", \.grounds),
        .required("expiresAtMs", \.address.expiresAt, "The time until which a download may begin."),
    ]
}
