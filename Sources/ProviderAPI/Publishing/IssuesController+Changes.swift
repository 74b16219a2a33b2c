import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport

extension IssuesController {
    private static let productID = Member.text("productId", maximum: 256, as: .productID)
        .checked("invalid_product_id", "use 1 to 256 letters, digits, dots, hyphens or underscores") { text in
            text.utf8.allSatisfy { $0.isAlphanumeric || ".-_".utf8.contains($0) }
        }
    private static let title = Member.text("title", 1...1000)
    private static let number = Member.text("number", 1...100).clearable
    private static let date = Member.text("date", maximum: 10, as: .date)
        .parsed("invalid_date", "use a date such as 2026-11-20") { CivilDate($0) }
    private static let access = Member.choice(
        "access",
        of: IssueAccess.self,
        maximum: 16,
        message: "use free or retail"
    )

    static let addition = RequestObject(
        required: [Self.productID, Self.title, Self.date],
        optional: [Self.number, Self.access.described("Default free.")]
    ) { $0.example(.texts(["productId": "com.example.issue7", "title": "Issue 7", "date": "2026-11-20"])) }
    static let changesRequest = RequestObject(
        optional: [Self.productID, Self.title, Self.number, Self.date, Self.access]
    )

    static let file = Member.contentHash("file")
    static let fileRequest = RequestObject(required: [Self.file.described("The SHA-256 of one of the app's files.")])

    /// Reads the members of an issue that the body names.
    static func changes(_ fields: JSONFields) throws(RequestError) -> IssueChanges {
        var changes = IssueChanges()
        changes.productID = try fields.value(Self.productID)
        changes.title = try fields.value(Self.title)
        changes.number = try fields.value(Self.number)
        changes.date = try fields.value(Self.date)
        changes.access = try fields.value(Self.access)
        return changes
    }

    /// Returns the issue after a change, or throws why it was not changed.
    ///
    /// - Parameters:
    ///   - underWay: The number of pushes that a withdrawal could not take back.
    ///   - warnings: Returns the warnings about the changed issue.
    static func response(
        _ result: IssueChangeResult,
        status: HTTPResponse.Status = .ok,
        underWay: Int? = nil,
        warnings: (IssueRecord) -> [ContentWarning]? = { _ in nil }
    ) throws -> Response {
        switch result {
        case .done(let issue):
            let response = IssueResponse(issue: issue, warnings: warnings(issue), underWay: underWay)
            return try .json(response, status: status)
        case .missing: throw RequestError.noSuch("issue")
        case .productIDTaken:
            throw RequestError.conflict("product_id_taken", "another issue of the app has it", at: "productId")
        case .tooMany:
            let message = """
                an app has at most \(IssueRecord.maximumOfApp) issues, and an issue \(IssueRecord.maximumRenditions) \
                renditions
                """
            throw RequestError.conflict("too_many", message)
        case .wasPublished:
            let message = "apps know the issue by it since it was published: add another issue"
            throw RequestError.conflict("was_published", message, at: "productId")
        case .isDraft:
            throw RequestError.conflict("is_draft", "a draft is not in the catalogue: remove it instead")
        case .noFile: throw Self.noFile
        }
    }

    static let noFile = RequestError.conflict(
        "no_such_file",
        "the app has no such file: upload it first",
        at: "file"
    )
}

extension ContentWarning {
    /// Returns a warning if an issue has no file that a device could download.
    static func lacksFile(_ issue: IssueRecord) -> [ContentWarning]? {
        guard issue.renditions.isEmpty else { return nil }
        let message = "the issue has no file: readers see it in the catalogue and cannot download it, so upload one"
        return [ContentWarning(field: "renditions", message: message)]
    }
}

extension Schema {
    /// The name of an issue in the app store and in pushes.
    static let productID = Schema.string(length: 1...256, pattern: "^[A-Za-z0-9._-]+$")
    /// A SHA-256 in hexadecimal.
    static let contentHash = Schema.string(length: 64...64, pattern: "^[0-9A-Fa-f]{64}$")
    static let screenSize = Schema.string(length: 3...11, pattern: "^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$")
    static let date = Schema.string(length: 10...10, pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$")
}

extension Member {
    /// Makes the hash of a file's content.
    static func contentHash(_ name: String) -> RequestMember<ContentHash> {
        Self.text(name, maximum: 64, as: .contentHash)
            .parsed("invalid_hash", "use the 64 hexadecimal digits of a SHA-256") { ContentHash(hex: $0) }
    }
}

extension Cursor {
    /// The position in a list of issues.
    init(_ position: IssueCursor) {
        self.init(list: .issues, position: position.day, second: position.position)
    }
}

extension OperationRequest {
    /// Returns the last issue of the page before; `nil` at the beginning of the list.
    func issueCursor() throws -> IssueCursor? {
        try self.cursor(.issues).map { IssueCursor(day: $0.position, position: $0.second ?? 0) }
    }
}
