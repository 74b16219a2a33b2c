package import Foundation
import PushSupport

/// The profile of one recipient, from which its payload is rendered: the part of a ``DeviceProfile`` that a page reads.
package struct RecipientProfile: Hashable, Sendable {
    package var user: String?
    /// The locale as the device registered it, BCP 47 or POSIX.
    package var locale: String?
    package var timeZone, appVersion: String?
    /// The text of a flat JSON object of strings, numbers and booleans. It is not parsed: at a million devices a parser
    /// would take most of the time.
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

    /// The profile of a registered device, with all its parts.
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

/// The fields of a recipient's profile that are read with a page: only those that the content needs.
package struct RecipientProfileFields: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let user = RecipientProfileFields(rawValue: 1)
    package static let locale = RecipientProfileFields(rawValue: 2)
    package static let timeZone = RecipientProfileFields(rawValue: 4)
    package static let appVersion = RecipientProfileFields(rawValue: 8)
    package static let attributes = RecipientProfileFields(rawValue: 16)
}
