package import Foundation

/// What rendering may want to know about a device.
package struct RenderSubject: Hashable, Sendable {
    /// As the device registered it, BCP 47 or POSIX.
    package var locale: String?
    package var user: String?
    package var timeZone: String?
    package var appVersion: String?
    /// JSON text: a flat object of strings, numbers and booleans.
    package var attributes: Data?
    /// The count to be shown, with this notification in it; `nil` leaves the device's badge as it is.
    package var badge: Int?

    package init(
        locale: String? = nil,
        user: String? = nil,
        timeZone: String? = nil,
        appVersion: String? = nil,
        attributes: Data? = nil,
        badge: Int? = nil
    ) {
        self.locale = locale
        self.user = user
        self.timeZone = timeZone
        self.appVersion = appVersion
        self.attributes = attributes
        self.badge = badge
    }
}

/// What of a ``RenderSubject`` a notification looks at: the rest need not be read.
package struct RenderNeeds: Hashable, Sendable {
    package var attributes = false
    package var locale = false
    package var user = false
    package var timeZone = false
    package var appVersion = false
    package var badge = false

    package init() {}
}

/// Why a notification cannot be made for a device. Another try would not help.
package enum RenderFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The device has no value for this variable, and the variable no default.
    case missingValue(String)
    /// What the store gave is no content of ours: no device can get anything.
    case damagedContent
    /// The device's attributes are no JSON object.
    case damagedAttributes
    /// The badge is all there is to show, and there is no count for the device.
    case missingBadge
    /// Both in bytes.
    case tooLarge(size: Int, limit: Int)

    /// For the ledger; never holds a value.
    package var description: String {
        switch self {
        case .missingValue(let name): "the device has no value for {{\(name)}}, which has no default"
        case .damagedContent: "the stored content cannot be read"
        case .damagedAttributes: "the device's attributes cannot be read"
        case .missingBadge: "there is no badge count for this device and nothing else to show"
        case .tooLarge(let size, let limit): "the payload would have \(size) bytes, the limit is \(limit)"
        }
    }
}
