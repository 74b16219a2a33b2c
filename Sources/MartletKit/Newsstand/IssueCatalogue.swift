#if canImport(CryptoKit) || Encryption
public import Foundation

/// A page of the published issues, the newest first.
public struct IssueCatalogue: Hashable, Sendable {
    /// The issues. Entries that cannot be parsed are left out.
    public let issues: [CatalogueIssue]
    /// The cursor of the next page, or `nil` on the last page.
    public let next: String?
    /// The entity tag of the page, by which a later request loads the page only if it has changed. It is `nil` if the
    /// page has none.
    public let entityTag: String?

    init(_ members: [String: JSONValue], entityTag: String?, base: URL) throws(NewsstandError) {
        guard let entries = members["issues"]?.array else {
            throw NewsstandError.malformed("the response has no issues")
        }
        self.issues = entries.compactMap { CatalogueIssue($0, base: base) }
        (self.next, self.entityTag) = (members["next"]?.string, entityTag)
    }

    private init(issues: [CatalogueIssue], next: String?, entityTag: String?) {
        (self.issues, self.next, self.entityTag) = (issues, next, entityTag)
    }

    /// Returns this page and the next one as one page, with ``next`` of the latter and ``entityTag`` of the former.
    func followed(by page: IssueCatalogue) -> IssueCatalogue {
        IssueCatalogue(issues: self.issues + page.issues, next: page.next, entityTag: self.entityTag)
    }
}

/// A published issue in the catalogue.
public struct CatalogueIssue: Hashable, Sendable, Codable {
    public let product: String
    public let publication: UUID
    public let publicationName: String
    public let title: String
    /// The number that is printed on the issue, or `nil` if it has none.
    public let number: String?
    /// The publication day, in the form `2026-11-20`.
    public let date: String
    /// A Boolean value that indicates whether everybody may download the issue. If not, a purchase is required.
    public let isFree: Bool
    /// The cover image, or `nil` if the issue has none.
    public let cover: PublishedFile?
    /// The files of the issue, one for each screen size.
    public let renditions: [IssueRendition]

    /// The maximum length of a product id in bytes. An entry with a longer one is not valid.
    static let maximumProduct = 256

    /// Parses an entry of the catalogue. Returns `nil` if the entry is not valid.
    /// - Parameter base: The URL of the provider, to which the URL of the cover may be relative.
    init?(_ entry: JSONValue, base: URL) {
        guard let members = entry.object, let product = members["productId"]?.string,
            (1...Self.maximumProduct).contains(product.utf8.count),
            let publication = members["publication"]?.string.flatMap({ UUID(uuidString: $0) }),
            let title = members["title"]?.string, let date = members["date"]?.string
        else { return nil }
        (self.product, self.publication, self.title, self.date) = (product, publication, title, date)
        self.publicationName = members["publicationName"]?.string ?? ""
        self.number = members["number"]?.string
        self.isFree = members["access"]?.string == "free"
        self.cover = members["cover"]?.object.flatMap { PublishedFile($0, base: base) }
        self.renditions = (members["renditions"]?.array ?? []).compactMap { IssueRendition($0) }
    }
}

/// A file of an issue for one screen size.
public struct IssueRendition: Hashable, Sendable, Codable {
    /// The screen size in pixels, such as `2048x1536`.
    public let screenSize: String
    /// The size of the file in bytes.
    public let size: Int64
    /// The SHA-256 of the file in hexadecimal digits.
    public let sha256: String

    init?(_ entry: JSONValue) {
        guard let members = entry.object, let screenSize = members["screenSize"]?.string,
            let size = members["size"]?.integer, size >= 0,
            let sha256 = members["sha256"]?.string, sha256.isSHA256
        else { return nil }
        (self.screenSize, self.size, self.sha256) = (screenSize, size, sha256)
    }
}

/// A file that can be downloaded.
public struct PublishedFile: Hashable, Sendable, Codable {
    /// The URL of the file. Its signature permits the download without a key until it expires.
    public let url: URL
    /// The size of the file in bytes.
    public let size: Int64
    /// The SHA-256 of the file in hexadecimal digits.
    public let sha256: String
    public let contentType: String

    /// The maximum size of a file in bytes. An entry with a larger one is not valid.
    static let maximumSize: Int64 = 1 << 40

    /// Parses a file. Returns `nil` if the members are not valid.
    /// - Parameter base: The URL of the provider, to which the file's URL may be relative.
    init?(_ members: [String: JSONValue], base: URL) {
        guard let text = members["url"]?.string, let url = URL(string: text, relativeTo: base)?.absoluteURL,
            url.scheme == base.scheme || url.scheme == "https",
            let size = members["size"]?.integer, (0...Self.maximumSize).contains(size),
            let sha256 = members["sha256"]?.string, sha256.isSHA256
        else { return nil }
        (self.url, self.size, self.sha256) = (url, size, sha256)
        self.contentType = members["contentType"]?.string ?? "application/octet-stream"
    }
}

extension String {
    /// A Boolean value that indicates whether the string consists of the 64 digits of a SHA-256, which are safe in a
    /// file name.
    fileprivate var isSHA256: Bool {
        self.utf8.count == 64
            && self.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}
#endif
