package import PushSupport

/// The requests that add and change an issue, and that notify devices of it.
package enum IssueRequest {
    package static let productID = Member.text("productId", maximum: IssueRecord.maximumProductID, as: .productID)
        .checked("invalid_product_id", "use 1 to 256 letters, digits, dots, hyphens or underscores") { text in
            text.utf8.allSatisfy { $0.isAlphanumeric || ".-_".utf8.contains($0) }
        }
    package static let title = Member.text("title", 1...1000)
    private static let number = Member.text("number", 1...100).clearable
    package static let date = Member.text("date", maximum: 10, as: .date)
        .parsed("invalid_date", "use a date such as 2026-11-20") { CivilDate($0) }
    private static let access = Member.choice(
        "access",
        of: IssueAccess.self,
        maximum: 16,
        message: "use free or retail"
    )

    package static let addition = RequestObject(
        required: [Self.productID, Self.title, Self.date],
        optional: [Self.number, Self.access.described("Default free.")]
    ) { $0.example(.texts(["productId": "com.example.issue7", "title": "Issue 7", "date": "2026-11-20"])) }
    package static let change = RequestObject(
        optional: [Self.productID, Self.title, Self.number, Self.date, Self.access]
    )

    package static let file = Member.contentHash("file")
    package static let fileChoice = RequestObject(required: [
        Self.file.described("The SHA-256 of one of the app's files.")
    ])

    package static let again = Member.bool("again")
        .described("Notifies once more where the earlier notification has ended.")
    package static let counts = Member.bool("counts")
        .described("Default true. false leaves the number of devices out.")
    package static let notify = RequestObject(optional: [Self.again])
    package static let notifyPreview = RequestObject(optional: [Self.counts])

    /// Reads the members of an issue that the body names.
    package static func changes(_ fields: JSONFields) throws(RequestError) -> IssueChanges {
        var changes = IssueChanges()
        changes.productID = try fields.value(Self.productID)
        changes.title = try fields.value(Self.title)
        changes.number = try fields.value(Self.number)
        changes.date = try fields.value(Self.date)
        changes.access = try fields.value(Self.access)
        return changes
    }
}

extension Schema {
    /// The schema for the product id of an issue, as the App Store and pushes name it.
    package static let productID = Schema.string(length: 1...IssueRecord.maximumProductID, pattern: "^[A-Za-z0-9._-]+$")
    /// The schema for a SHA-256 in hexadecimal.
    package static let contentHash = Schema.string(length: 64...64, pattern: "^[0-9A-Fa-f]{64}$")
    package static let screenSize = Schema.string(length: 3...11, pattern: "^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$")
    package static let date = Schema.string(
        length: 10...10,
        pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
    )
}

extension Member {
    /// Creates a member that holds the SHA-256 of a file's content.
    package static func contentHash(_ name: String) -> RequestMember<ContentHash> {
        Self.text(name, maximum: 64, as: .contentHash)
            .parsed("invalid_hash", "use the 64 hexadecimal digits of a SHA-256") { ContentHash(hex: $0) }
    }
}
