package import Foundation
package import PushSupport
package import PushTypes

/// An app to which notifications are sent.
package struct AppRecord: Hashable, Sendable {
    package var id: Int64
    package var bundleID: Topic
    package var name: String?
    /// The maximum number of pushes per second of all the app's campaigns together; `nil` for no limit.
    package var rate: Int?
    /// The tags and the attributes that installations may write themselves: none by default.
    package var installationTags = NamePatterns(), installationAttributes = NamePatterns()
    /// The frequency cap for each user of the app; `nil` for no limit.
    package var cap: FrequencyCap?
    package var createdAt: Timestamp
    /// The maximum level of receipts that are reported for its notifications, unless a notification has its own.
    package var receipts: ReceiptLevel = .none

    package init(
        id: Int64,
        bundleID: Topic,
        name: String? = nil,
        rate: Int? = nil,
        installationTags: NamePatterns = NamePatterns(),
        installationAttributes: NamePatterns = NamePatterns(),
        cap: FrequencyCap? = nil,
        createdAt: Timestamp,
        receipts: ReceiptLevel = .none
    ) {
        (self.id, self.bundleID, self.name, self.rate) = (id, bundleID, name, rate)
        (self.installationTags, self.installationAttributes) = (installationTags, installationAttributes)
        (self.cap, self.createdAt, self.receipts) = (cap, createdAt, receipts)
    }
}

/// Changes to an app's settings. A setting that is `nil` is kept.
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

/// The state of an app in an environment, derived from the responses to its pushes.
package struct EnvironmentHealth: Hashable, Sendable {
    /// The time at which the circuit breaker opened, which stops the deactivation of rejected tokens; `nil` while it is
    /// closed.
    package var breakerOpenSince: Timestamp?
    package var breakerReason: String?
    /// The time of the first push that was accepted with the credential; `nil` before that.
    package var provenAt: Timestamp?
    /// The epoch of the credential to which the state applies (``StoredCredential/epoch``). A new credential resets the
    /// state.
    package var epoch: Int64

    package init(epoch: Int64 = 0) { self.epoch = epoch }
}

/// The id of a record that belongs to an app. Requests name such a record without its app.
package enum AppOwnedRecord: Hashable, Sendable {
    case notification(UUID)
    case schedule(UUID)
    case webhook(UUID)
    case publication(UUID)
    case issue(UUID)
    case upload(UUID)
    /// The notification that a delivery belongs to.
    case delivery(DeliveryPrefix)
}

/// The stop of all pushes of an app, requested by a person.
///
/// No notification of a stopped app is sent, not even an urgent one. New notifications are accepted and wait until the
/// app is resumed.
package struct AppStop: Hashable, Sendable {
    package var app: Int64
    package var since: Timestamp
    /// The reason that the person gave for the stop; `nil` for none.
    package var reason: String?
    package var by: KeyReference?

    package init(app: Int64, since: Timestamp, reason: String?, by: KeyReference?) {
        (self.app, self.since, self.reason, self.by) = (app, since, reason, by)
    }
}

/// A user of an app, or a whole app, that is being erased.
package struct ErasureRecord: Hashable, Sendable {
    package var id: Int64
    package var app: Int64
    /// The user to erase; `nil` for a whole app, and after the rows have been deleted.
    package var user: String?
    /// The time of the request, by the steady clock.
    package var requestedAt: Timestamp
    /// A Boolean value that indicates whether all rows have been deleted, so that only the free space of the database
    /// file has to be overwritten.
    package var isEmptied: Bool
    /// The number of the latest request that began or extended the erasure, from 1. Until ``answered`` reaches it, the
    /// erasure is in progress.
    package var request: Int64
    /// The number of the latest request to which the erasure was reported as complete; 0 for none.
    package var answered: Int64

    package init(
        id: Int64,
        app: Int64,
        user: String? = nil,
        requestedAt: Timestamp,
        isEmptied: Bool,
        request: Int64,
        answered: Int64
    ) {
        (self.id, self.app, self.user, self.requestedAt) = (id, app, user, requestedAt)
        (self.isEmptied, self.request, self.answered) = (isEmptied, request, answered)
    }

    /// A Boolean value that indicates whether the erasure is in progress. Until it ends, a further request for the same
    /// user only returns its state.
    package var isUnderWay: Bool { self.answered < self.request }
}
