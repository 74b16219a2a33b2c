package import Foundation
package import PushProtocol

/// A notification in the ledger: what to send, to whom, and how far it has got.
package struct NotificationRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        /// On disk, nothing sent yet.
        case accepted
        /// Some of its recipients have been tried.
        case sending
        /// Every recipient has a final state.
        case done
    }

    package struct Counters: Hashable, Sendable {
        package var accepted = 0
        package var rejected = 0
        package var failed = 0
        /// Recipients that wait for another try.
        package var retrying = 0

        package init() {}
    }

    package var id: UUID
    package var app: Int64
    package var content: NotificationContent
    package var audience: Audience
    /// `nil` means the devices of both.
    package var environment: PushEnvironment?
    package var createdAt: Timestamp
    package var finishedAt: Timestamp?
    package var state: State
    package var counters = Counters()
    /// The last recipient that has been tried; its meaning belongs to the store.
    package var cursor: Int64 = 0

    package init(
        id: UUID,
        app: Int64,
        content: NotificationContent,
        audience: Audience,
        environment: PushEnvironment?,
        createdAt: Timestamp,
        state: State = .accepted
    ) {
        self.id = id
        self.app = app
        self.content = content
        self.audience = audience
        self.environment = environment
        self.createdAt = createdAt
        self.state = state
    }
}

/// What every recipient of a notification gets.
package struct NotificationContent: Hashable, Sendable {
    package var topic: Topic
    package var pushType: PushType
    package var priority: Priority
    package var expiration: Expiration
    package var collapseID: String?
    /// The JSON text.
    package var payload: Data

    package init(
        topic: Topic,
        pushType: PushType,
        priority: Priority,
        expiration: Expiration,
        collapseID: String?,
        payload: Data
    ) {
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
    }
}

/// Makes a repeated request the same request.
package struct Idempotency: Hashable, Sendable {
    /// Chosen by the caller, unique per app.
    package var key: String
    /// SHA-256 of the request, to tell a repetition from a mistake.
    package var fingerprint: [UInt8]

    package init(key: String, fingerprint: [UInt8]) {
        self.key = key
        self.fingerprint = fingerprint
    }
}

/// What became of a request to accept a notification.
package enum Acceptance: Hashable, Sendable {
    case accepted
    /// The same request was accepted before, as this notification.
    case repeated(NotificationRecord)
    /// Another request used the same idempotency key.
    case conflict
}
