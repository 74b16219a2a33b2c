package import Foundation
package import PushSupport
package import PushTypes

/// The holder of a dashboard session: a person who signed in, or an API key.
package enum SessionHolder: Hashable, Sendable {
    case person(UUID)
    case key(UUID)

    /// Creates the holder of a caller's sessions.
    package init(_ caller: APICaller) { self = caller.isPerson ? .person(caller.id) : .key(caller.id) }
}

/// A session of a browser. Only the hash of its token is stored. All times are those of the steady clock.
package struct SessionRecord: Hashable, Sendable {
    /// The maximum length of ``agent``, in bytes.
    package static let maximumAgent = 200
    /// The maximum number of sessions of a holder. A further one ends the least recently used one.
    package static let maximumCount = 20

    package var id: UUID
    package var holder: SessionHolder
    package var createdAt: Timestamp
    /// The time of the last request, written at most once a minute.
    package var lastUsedAt: Timestamp
    /// The time at which the session ends, even if it is in use.
    package var expiresAt: Timestamp
    /// The browser's `User-Agent`.
    package var agent: String

    package init(
        id: UUID = UUID(),
        holder: SessionHolder,
        createdAt: Timestamp,
        lastUsedAt: Timestamp? = nil,
        expiresAt: Timestamp,
        agent: String
    ) {
        (self.id, self.holder, self.createdAt) = (id, holder, createdAt)
        (self.lastUsedAt, self.expiresAt, self.agent) = (lastUsedAt ?? createdAt, expiresAt, agent)
    }
}

/// A stored session with the record of its holder.
package struct StoredSession: Hashable, Sendable {
    /// The holder of the session, as stored now.
    package enum Holder: Hashable, Sendable {
        case person(PersonRecord)
        case key(APIKeyRecord)
    }

    package var record: SessionRecord
    package var holder: Holder

    package init(record: SessionRecord, holder: Holder) { (self.record, self.holder) = (record, holder) }
}

/// The stored facts that an attempt to sign in with a name depends on.
package struct SignInCandidate: Hashable, Sendable {
    package var person: PersonRecord
    /// The stored password, or `nil` for a person who has none yet.
    package var password: String?
    /// A Boolean value that indicates whether the person has signed in from this network before, which shortens delays.
    package var isKnownNetwork: Bool

    package init(person: PersonRecord, password: String? = nil, isKnownNetwork: Bool) {
        (self.person, self.password, self.isKnownNetwork) = (person, password, isKnownNetwork)
    }
}

/// A new session, with everything that is written in the transaction that begins it.
package struct SignInRecord: Sendable {
    package var session: SessionRecord
    /// The SHA-256 of the session's token.
    package var hash: [UInt8]
    /// The bytes of the network from which the session begins, which becomes a known network of the person.
    package var network: [UInt8]
    /// The time of the sign-in by the wall clock.
    package var now: Timestamp
    /// The idle time after which a session ends.
    package var idle: Duration

    package init(session: SessionRecord, hash: [UInt8], network: [UInt8], now: Timestamp, idle: Duration) {
        (self.session, self.hash, self.network) = (session, hash, network)
        (self.now, self.idle) = (now, idle)
    }
}
