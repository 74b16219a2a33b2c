package import Foundation
package import PushTypes

/// The news for an old provider that the push service has called a token of its pushes invalid.
package struct LegacyToken: Hashable, Sendable {
    package var token: DeviceToken
    /// The time from which the push service calls it invalid.
    package var since: Timestamp

    package init(token: DeviceToken, since: Timestamp) { (self.token, self.since) = (token, since) }
}

/// A named token that a page's responses have proven invalid, to be remembered for the bridge it came over.
package struct InvalidNamedToken: Hashable, Sendable {
    package var token: DeviceToken
    package var environment: PushEnvironment
    /// The time from which the push service calls it invalid.
    package var since: Timestamp
    /// Indicates whether the app is gone from the device, which feedback lists; otherwise the token is bad.
    package var isUnregistered: Bool

    package init(token: DeviceToken, environment: PushEnvironment, since: Timestamp, isUnregistered: Bool) {
        (self.token, self.environment) = (token, environment)
        (self.since, self.isUnregistered) = (since, isUnregistered)
    }
}

/// A push that came over the legacy bridge, by which a repetition of it is recognized.
package struct LegacyPush: Hashable, Sendable {
    package var app: Int64
    package var token: DeviceToken
    package var payload: Data
    /// The value of the header `apns-expiration`; `nil` without one.
    package var expiration: String?
}
