package import Foundation
package import ProviderModel
import PushSupport
package import PushTypes

/// A recipient of a notification: a token to which it is to be sent.
package struct Recipient: Hashable, Sendable {
    /// The id within the notification: the id of a device, or a negative number for a named token.
    package var id: Int64
    /// The id of the device, or `nil` if the token is not registered.
    package var device: Int64?
    package var token: DeviceToken
    package var environment: PushEnvironment
    /// The time of the device's latest registration, or `nil` if the token is not registered.
    package var registeredAt: Timestamp?
    /// A Boolean value that indicates whether the token was rejected as bad. An accepted push resets it.
    package var isSuspected = false
    /// The environment in which the device is registered, if the push is attempted in the other environment (see
    /// ``TokenStateChange/Kind/moved(to:)``), or `nil` otherwise.
    package var movedFrom: PushEnvironment?
    /// The number of earlier attempts to send to the recipient.
    package var attempts: Int
    /// A Boolean value that indicates whether an earlier push may have arrived, because its response was lost.
    package var mayHaveArrived = false
    /// The requested fields of the device's profile, or `nil` if none were requested.
    package var profile: RecipientProfile?
    /// The consent of the recipient, or `nil` if the notification is sent regardless of consent.
    package var consent: RecipientConsent?

    package init(
        id: Int64,
        device: Int64?,
        token: DeviceToken,
        environment: PushEnvironment,
        registeredAt: Timestamp? = nil,
        attempts: Int = 0
    ) {
        (self.id, self.device, self.token) = (id, device, token)
        (self.environment, self.registeredAt, self.attempts) = (environment, registeredAt, attempts)
    }
}

/// A page of a shard's recipients, in ascending order of their positions in the shard.
package struct RecipientPage: Hashable, Sendable {
    package var recipients: [Recipient]
    /// The recipients that get no push, because their devices cannot be read or their tokens are of another kind.
    package var ended: [EndedRetry] = []
    /// The ids of recipients that wait until all shards have been read, because their device was removed, or because
    /// another device may already have received the notification with the same token.
    package var held: [Int64] = []
    /// The position in the shard after which the next page begins.
    package var cursor: Int64
    package var isLast: Bool
    /// The value of the registration clock, a counter of device changes, when the page was read.
    package var readAt: Int64 = 0
}

/// The fields of one recipient's ``DeviceProfile`` that are read with a page and from which the payload is rendered.
package struct RecipientProfile: Hashable, Sendable {
    package var user: String?
    /// The locale in the registered form, BCP 47 or POSIX, or `nil` if there is none or it is not read.
    package var locale: String?
    package var timeZone, appVersion: String?
    /// The attributes, as the JSON text of a flat object, or `nil` if there are none or they are not read. The text is
    /// not parsed, because parsing would take most of the time of a large campaign.
    package var attributes: Data?

    package init(
        user: String? = nil,
        locale: String? = nil,
        timeZone: String? = nil,
        appVersion: String? = nil,
        attributes: Data? = nil
    ) {
        (self.user, self.locale, self.timeZone) = (user, locale, timeZone)
        (self.appVersion, self.attributes) = (appVersion, attributes)
    }

    /// Creates the whole profile of a registered device.
    /// - Throws: An error if the attributes cannot be encoded as JSON.
    package init(_ device: DeviceProfile) throws {
        self.init(
            user: device.user,
            locale: device.locale,
            timeZone: device.timeZone,
            appVersion: device.appVersion,
            attributes: try JSONValue.object(device.attributes).text
        )
    }
}

/// The fields of a recipient's profile that a page reads, limited to those that the content uses.
package struct RecipientProfileFields: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let user = RecipientProfileFields(rawValue: 1)
    package static let locale = RecipientProfileFields(rawValue: 2)
    package static let timeZone = RecipientProfileFields(rawValue: 4)
    package static let appVersion = RecipientProfileFields(rawValue: 8)
    package static let attributes = RecipientProfileFields(rawValue: 16)
}
