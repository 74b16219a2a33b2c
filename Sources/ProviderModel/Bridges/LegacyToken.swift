package import Foundation
package import PushTypes

/// An entry for the feedback list of an old provider: a token that the push service has called invalid.
package struct LegacyToken: Hashable, Sendable {
    package var token: DeviceToken
    /// The time from which the token is invalid, according to the push service.
    package var since: Timestamp

    package init(token: DeviceToken, since: Timestamp) { (self.token, self.since) = (token, since) }
}

/// A token that a request named without registering it, and that a response has proven invalid. It is stored for the
/// bridge through which the notification arrived.
package struct InvalidNamedToken: Hashable, Sendable {
    package var token: DeviceToken
    package var environment: PushEnvironment
    /// The time from which the token is invalid, according to the push service.
    package var since: Timestamp
    /// A Boolean value that indicates whether the push service called the token unregistered, and not bad.
    package var isUnregistered: Bool

    package init(token: DeviceToken, environment: PushEnvironment, since: Timestamp, isUnregistered: Bool) {
        (self.token, self.environment) = (token, environment)
        (self.since, self.isUnregistered) = (since, isUnregistered)
    }
}

/// A push that arrived through the legacy bridge. It is compared with later ones to recognize repetitions.
package struct LegacyPush: Hashable, Sendable {
    package var app: Int64
    package var token: DeviceToken
    package var payload: Data
    /// The value of the header `apns-expiration`, or `nil` for a push without it.
    package var expiration: String?

    package init(app: Int64, token: DeviceToken, payload: Data, expiration: String? = nil) {
        (self.app, self.token, self.payload, self.expiration) = (app, token, payload, expiration)
    }
}
