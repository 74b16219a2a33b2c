package import Foundation
package import PushTypes

/// The publisher's server that is asked which issues an account is entitled to.
package struct EntitlementServerRecord: Hashable, Sendable {
    /// The form of the question and of the answer.
    package enum Form: String, Hashable, Sendable, CaseIterable {
        /// A signed post with JSON, answered with JSON.
        case json
        /// The direct entitlement API of Adobe DPS: a GET with the account's token, answered with XML.
        case xml
    }

    /// The decision while the server does not answer.
    package enum WhenDown: String, Hashable, Sendable, CaseIterable {
        /// The account is entitled to nothing.
        case refuse
        /// Entitled is who was so at most some hours ago; the others are asked to come again.
        case allowKnown
        /// Everybody is entitled.
        case allow
    }

    package var app: Int64
    package var url: String
    package var form: Form
    package var whenDown: WhenDown
    /// The secret that signs the questions. The store seals it with the master key.
    package var secret: String
    /// The name of this version of the record, a new one with each change: answers to an earlier version do not count.
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
