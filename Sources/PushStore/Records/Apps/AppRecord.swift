package import Foundation
package import PushSupport
package import PushTypes

/// An app to which notifications are sent.
package struct AppRecord: Hashable, Sendable {
    package var id: Int64
    package var bundleID: Topic
    package var name: String?
    /// The pushes per second of all its campaigns together; `nil` for no limit.
    package var rate: Int?
    /// The tags and the attributes that installations may write themselves: none by default.
    package var installationTags = NamePatterns(), installationAttributes = NamePatterns()
    /// The most notifications of a user; `nil` for no limit.
    package var cap: FrequencyCap?
    package var createdAt: Timestamp
    /// The receipt level that apps may report at most of its notifications, where these say nothing else.
    package var receipts: ReceiptLevel = .none
}

/// Changes of an app's settings. What is `nil` stays.
package struct AppChanges: Hashable, Sendable {
    package var name: Update<String>?
    package var rate: Update<Int>?
    package var receipts: ReceiptLevel?
    package var installationTags, installationAttributes: NamePatterns?
    package var cap: Update<FrequencyCap>?

    package init(
        name: Update<String>? = nil,
        rate: Update<Int>? = nil,
        receipts: ReceiptLevel? = nil,
        cap: Update<FrequencyCap>? = nil
    ) {
        (self.name, self.rate, self.receipts, self.cap) = (name, rate, receipts, cap)
    }
}

/// An app's credential for the push service, in one environment. The store seals its secrets with the master key.
package enum CredentialRecord: Hashable, Sendable {
    /// A signing key for provider tokens, with its private key in PEM.
    case key(teamID: String, keyID: String, privateKey: String)
    /// A certificate and its key in one PEM text, and the key's passphrase if it has one.
    case certificate(pem: String, passphrase: String?)
    /// A certificate and its key in a `.p12` archive, with its passphrase if it has one.
    case archive(p12: [UInt8], passphrase: String?)
}

/// The state of an app in one environment, as it follows from the responses to its pushes.
package struct EnvironmentHealth: Hashable, Sendable {
    /// The time at which the circuit breaker opened; `nil` while it is closed and tokens are deactivated.
    package var breakerOpenSince: Timestamp?
    package var breakerReason: String?
    /// The time of the first push that was accepted with the credential; `nil` before that.
    package var provenAt: Timestamp?
    /// The epoch of the credential that all of this is about (``StoredCredential/epoch``).
    package var epoch: Int64

    package init(epoch: Int64 = 0) { self.epoch = epoch }
}

/// A record of one app that has an id of its own, by which requests name it without its app.
package enum AppOwnedRecord: Hashable, Sendable {
    case notification(UUID)
    case schedule(UUID)
    case webhook(UUID)
    case publication(UUID)
    case issue(UUID)
    case upload(UUID)
    /// The notification of a delivery.
    case delivery(DeliveryPrefix)
}

/// The switch by which a person stops everything of an app.
///
/// Nothing of a stopped app is sent, urgent or not, until it is resumed. Its notifications are accepted and wait.
package struct AppStop: Hashable, Sendable {
    package var app: Int64
    package var since: Timestamp
    /// The words of the person.
    package var reason: String?
    package var by: KeyReference?

    package init(app: Int64, since: Timestamp, reason: String?, by: KeyReference?) {
        (self.app, self.since, self.reason, self.by) = (app, since, reason, by)
    }
}

/// The maximum number of notifications that a user gets in a window of time.
package struct FrequencyCap: Hashable, Sendable {
    package static let maximumCount: Int64 = 1000
    /// The longest window, in seconds.
    package static let maximumWindow: Int64 = 30 * 86_400

    package var count: Int
    /// The length of the window, in seconds.
    package var window: Int64

    package init(count: Int, window: Int64) { (self.count, self.window) = (count, window) }
}

/// The request to count a notification for the users of a page, before it is sent to them.
package struct FrequencyCapReservation: Hashable, Sendable {
    package var cap: FrequencyCap
    package var app: Int64
    /// The number of the notification.
    package var notification: Int64
    /// The users, or devices without a user.
    package var holders: Set<BytewiseString>
    /// The time by the steady clock.
    package var now: Timestamp

    package init(_ cap: FrequencyCap, app: Int64, notification: Int64, holders: Set<BytewiseString>, now: Timestamp) {
        (self.cap, self.app, self.notification) = (cap, app, notification)
        (self.holders, self.now) = (holders, now)
    }
}

/// A user of an app, or a whole app, that is being erased.
package struct ErasureRecord: Hashable, Sendable {
    package var id: Int64
    package var app: Int64
    /// The user; `nil` for the whole app, and once the rows are gone.
    package var user: String?
    /// The time of the request, by the steady clock.
    package var requestedAt: Timestamp
    /// Indicates whether the rows are gone, and only the file has to be overwritten.
    package var isEmptied: Bool
    /// The number of the latest request that began it or extended it, from 1.
    package var request: Int64
    /// The latest request that was answered as complete; 0 for none.
    package var answered: Int64

    /// Indicates whether another request for the same user only asks for its state.
    package var isUnderWay: Bool { self.answered < self.request }
}
