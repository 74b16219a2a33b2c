/// The notification types that a user allows. The raw values are the bits of the publisher's registration (reference
/// 10.1).
package struct DeviceCapabilities: OptionSet, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let badge = DeviceCapabilities(rawValue: 1)
    package static let sound = DeviceCapabilities(rawValue: 2)
    package static let alert = DeviceCapabilities(rawValue: 4)
    package static let newsstand = DeviceCapabilities(rawValue: 8)
    /// The capability that a push can wake the app in the background. The publisher's registration has no such bit.
    package static let background = DeviceCapabilities(rawValue: 16)
}

extension DeviceCapabilities {
    /// The capabilities by their names in the API.
    package static let named: [String: DeviceCapabilities] = [
        "alert": .alert, "badge": .badge, "sound": .sound, "newsstand": .newsstand, "background": .background,
    ]
}
