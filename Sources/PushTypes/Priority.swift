/// The urgency of a delivery: the header `apns-priority` (reference 1.5).
public enum Priority: UInt8, CaseIterable, Hashable, Sendable {
    /// The device's power comes first: the delivery never wakes it.
    case low = 1
    /// The device's power is considered: deliveries may be grouped and deferred.
    case powerAware = 5
    /// The notification is delivered at once. The default.
    case immediate = 10
}

extension Priority {
    /// Reads the header's text. Returns `nil` for a `BadPriority`.
    package init?(header text: String) {
        switch text {
        case "10": self = .immediate
        case "5": self = .powerAware
        case "1": self = .low
        default: return nil
        }
    }
}
