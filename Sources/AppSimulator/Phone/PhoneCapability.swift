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
