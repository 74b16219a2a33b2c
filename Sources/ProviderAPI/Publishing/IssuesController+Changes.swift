import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport

extension IssuesController {
    /// Reads the members of an issue that the body names.
    static func changes(_ fields: JSONFields) throws(RequestError) -> IssueChanges {
        var changes = IssueChanges()
        changes.productID = try fields.value("productId", maximum: 256, orElse: "invalid_product_id", ProductID.form) {
            ProductID.isValid($0) ? $0 : nil
        }
        changes.title = try fields.string("title", maximum: 1000)
        let number = try fields.string("number", maximum: 100)
        changes.number = fields.nulls.contains("number") ? .clear : number.map(Update.set)
        changes.date = try fields.value("date", maximum: 10, orElse: "invalid_date", "use a date such as 2026-11-20") {
            CivilDate($0)
        }
        changes.access = try fields.value("access", maximum: 16, orElse: "invalid_value", "use free or retail") {
            IssueAccess(rawValue: $0)
        }
        return changes
    }

    /// Returns the issue after a change, or throws why it was not changed.
    ///
    /// - Parameters:
    ///   - underWay: The number of pushes that a withdrawal could not take back.
    ///   - warnings: Returns the warnings about the changed issue.
    static func response(
        _ result: IssueResult,
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

/// The name of an issue in the app store and in pushes.
enum ProductID {
    static let form = "use 1 to 256 letters, digits, dots, hyphens or underscores"

    static func isValid(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension Schema {
    static let productID = Schema.string(length: 1...256, pattern: "^[A-Za-z0-9._-]+$")
    /// A SHA-256 in hexadecimal.
    static let contentHash = Schema.string(length: 64...64, pattern: "^[0-9A-Fa-f]{64}$")
    static let screenSize = Schema.string(length: 3...11, pattern: "^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$")
    static let date = Schema.string(length: 10...10, pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$")
}

extension JSONFields {
    /// Returns the hash in the member `name`; `nil` if it is absent.
    func contentHash(_ name: String) throws(RequestError) -> ContentHash? {
        try self.value(name, maximum: 64, orElse: "invalid_hash", "use the 64 hexadecimal digits of a SHA-256") {
            ContentHash(hex: $0)
        }
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
