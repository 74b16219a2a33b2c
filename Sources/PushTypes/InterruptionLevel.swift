/// The urgency with which a notification appears (reference 3.1).
package enum InterruptionLevel: String, Hashable, Sendable, Codable, CaseIterable {
    /// It is in the list, and neither lights the screen nor sounds.
    case passive
    case active
    case timeSensitive = "time-sensitive"
    case critical
}
