import MartletKit

/// A thing that the user lets an app's notifications do.
package enum PhoneCapability: String, Hashable, Sendable, Codable, CaseIterable {
    /// Notifications are shown.
    case alert
    /// The number on the app's icon changes.
    case badge
    /// Notifications have a sound.
    case sound
    /// A push may wake the app in the background.
    case background
}

extension Capabilities {
    /// Makes the library's form of what the user allows.
    init(_ capabilities: Set<PhoneCapability>) {
        self = []
        for capability in capabilities {
            switch capability {
            case .alert: self.insert(.alert)
            case .badge: self.insert(.badge)
            case .sound: self.insert(.sound)
            case .background: self.insert(.background)
            }
        }
    }
}
