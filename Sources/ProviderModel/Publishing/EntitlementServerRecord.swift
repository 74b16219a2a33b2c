package import Foundation
package import PushTypes

/// The publisher's server that decides which issues an account is entitled to.
package struct EntitlementServerRecord: Hashable, Sendable {
    /// The format of the queries and the responses.
    package enum Form: String, Hashable, Sendable, CaseIterable {
        /// The format of a signed POST with JSON, and of a response with JSON.
        case json
        /// The direct entitlement API of Adobe DPS: a GET with the account's token, and a response with XML.
        case xml
    }

    /// The decision about an account while the publisher's server does not respond.
    package enum WhenDown: String, Hashable, Sendable, CaseIterable {
        /// The decision that no account is entitled while the server does not respond.
        case refuse
        /// The decision that an account that was entitled within the last hours remains so while the server does not
        /// respond. Requests of other accounts have to be repeated later.
        case allowKnown
        /// The decision that every account is entitled while the server does not respond.
        case allow
    }

    package var app: Int64
    package var url: String
    package var form: Form
    package var whenDown: WhenDown
    /// The secret that signs the queries. The store seals it with the master key.
    package var secret: String
    /// The id of this version of the record, which each change replaces. Responses for an earlier version do not count.
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
