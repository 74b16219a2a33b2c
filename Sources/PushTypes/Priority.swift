/// How urgently a notification is delivered, header `apns-priority` (reference 1.5).
public enum Priority: UInt8, CaseIterable, Hashable, Sendable {
    /// Above everything power-wise: never wakes the device.
    case low = 1
    /// Considers the power of the device; may be grouped and deferred.
    case powerAware = 5
    /// At once. The default.
    case immediate = 10
}

extension Priority {
    /// Reads the header's text; `nil` means `BadPriority`.
    package init?(header text: String) {
        switch text {
        case "10": self = .immediate
        case "5": self = .powerAware
        case "1": self = .low
        default: return nil
        }
    }
}
