package import Foundation
package import PushSupport
package import PushTypes

/// The publisher's server that decides which issues an account is entitled to.
package struct EntitlementServerRecord: Hashable, Sendable {
    /// The format of the queries and the responses.
    package enum Form: String, Hashable, Sendable, CaseIterable {
        /// A signed POST with JSON, and a response with JSON.
        case json
        /// The direct entitlement API of Adobe DPS: a GET with the account's token, and a response with XML.
        case xml
    }

    /// The decision about an account while the publisher's server does not respond.
    package enum WhenDown: String, Hashable, Sendable, CaseIterable {
        /// While the server does not respond, an account is entitled to nothing.
        case refuse
        /// While the server does not respond, an account that was entitled within the last hours remains entitled.
        /// Requests of other accounts have to be repeated later.
        case allowKnown
        /// While the server does not respond, every account is entitled.
        case allow
    }

    package var app: Int64
    package var url: String
    package var form: Form
    package var whenDown: WhenDown
    /// The secret that signs the queries. The store seals it with the master key.
    package var secret: String
    /// The id of this version of the record, which each change replaces. Responses to queries of an earlier version do
    /// not count.
    package var revision: UUID
    package var changedAt: Timestamp

    package init(
        app: Int64,
        url: String,
        form: Form = .json,
        whenDown: WhenDown = .allowKnown,
        secret: String,
        revision: UUID = UUID(),
        changedAt: Timestamp
    ) {
        (self.app, self.url, self.form, self.whenDown) = (app, url, form, whenDown)
        (self.secret, self.revision, self.changedAt) = (secret, revision, changedAt)
    }
}

/// The request that sets the publisher's server.
package enum EntitlementServerRequest {
    package static let form = Member.choice("form", of: EntitlementServerRecord.Form.self).described("Default json.")
    package static let whenDown = Member.choice("whenDown", of: EntitlementServerRecord.WhenDown.self)
        .described("Default allowKnown.")
    /// The secret that the provider shares with the server: printable ASCII without spaces, so that a header can carry
    /// it.
    package static let secret = Member.text("secret", 16...256, pattern: "^[!-~]+$")
        .described("Default: the present one, or a new one.")
        .checked("invalid_value", "use 16 to 256 printable ASCII characters") { text in
            text.utf8.count >= 16 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        }
    package static let object = RequestObject(
        required: [Member.url],
        optional: [Self.form, Self.whenDown, Self.secret]
    ) { $0.example(.texts(["url": "https://publisher.example.com/entitlements", "form": "json"])) }
}
