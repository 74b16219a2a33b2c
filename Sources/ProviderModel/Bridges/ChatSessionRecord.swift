package import Foundation
package import PushSupport
package import PushTypes

/// A protocol of chat servers at which the provider signs in for users.
package enum ChatProtocol: String, Hashable, Sendable, CaseIterable {
    case irc, xmpp
}

/// A session that the provider keeps at a chat server for a user of an app.
package struct ChatSessionRecord: Hashable, Sendable {
    /// The state of a session, which decides whether the provider signs in.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// The state of a session that is in use: the provider signs in, and reconnects after a failure.
        case active
        /// The state of a session that a person has stopped.
        case stopped
        /// The state of a session that the server has permanently refused, for example for a wrong password.
        case failed
    }

    package var id: UUID
    /// The number of the row, which rises with each session, or 0 before it is stored.
    package var number: Int64 = 0
    package var app: Int64
    package var user: String
    package var chatProtocol: ChatProtocol
    /// The server's host name, or its IP address without brackets.
    package var host: String
    package var port: Int
    package var account: String
    /// The password at the server. The store seals it with the master key.
    package var password: String
    /// The settings that are specific to the protocol, as a JSON object.
    package var settings: JSONValue
    package var state = State.active
    /// The description of the last failure, or `nil` after a successful sign-in.
    package var lastError: String?
    /// The time of the newest message that was processed, by the server's clock, but not later than the provider's own.
    /// After a reconnection, messages up to it are not pushed again.
    package var seenThrough: Timestamp
    /// A Boolean value that indicates whether the server has proven with SCRAM that it knows the password, so that
    /// nothing weaker is accepted.
    package var usesSCRAM = false
    /// The id of this version of the record, which each change by a person replaces.
    package var revision: UUID
    package var createdAt: Timestamp
    package var changedAt: Timestamp

    package init(
        id: UUID = UUID(),
        app: Int64,
        user: String,
        chatProtocol: ChatProtocol,
        host: String,
        port: Int,
        account: String,
        password: String,
        settings: JSONValue = .object([:]),
        revision: UUID = UUID(),
        createdAt: Timestamp
    ) {
        (self.id, self.app, self.user, self.chatProtocol) = (id, app, user, chatProtocol)
        (self.host, self.port, self.account, self.password) = (host, port, account, password)
        (self.settings, self.revision) = (settings, revision)
        (self.seenThrough, self.createdAt, self.changedAt) = (createdAt, createdAt, createdAt)
    }
}

/// The key of one version of a session's record. A change by a person creates a new version.
package struct ChatSessionKey: Hashable, Sendable {
    package var id: UUID
    package var revision: UUID

    package init(id: UUID, revision: UUID) { (self.id, self.revision) = (id, revision) }
}

/// The progress of a session since it was last stored, to be written to its record.
package struct ChatSessionProgress: Hashable, Sendable {
    /// A Boolean value that indicates whether the server has permanently refused the session.
    package var hasFailed: Bool
    /// The new value of ``ChatSessionRecord/lastError``, or `nil` after a successful sign-in.
    package var lastError: String?
    /// The new value of ``ChatSessionRecord/seenThrough``, which never decreases.
    package var seenThrough: Timestamp
    /// The new value of ``ChatSessionRecord/usesSCRAM``. Once `true`, the stored value stays `true`.
    package var usesSCRAM: Bool

    package init(hasFailed: Bool = false, lastError: String? = nil, seenThrough: Timestamp, usesSCRAM: Bool = false) {
        (self.hasFailed, self.lastError) = (hasFailed, lastError)
        (self.seenThrough, self.usesSCRAM) = (seenThrough, usesSCRAM)
    }
}

/// The result of adding a session.
package enum ChatSessionAdditionResult: Hashable, Sendable {
    case added(ChatSessionRecord)
    /// A refusal because the user has the maximum number of sessions.
    case tooManyOfUser
    /// A refusal because the app has the maximum number of sessions.
    case tooManyOfApp
}
