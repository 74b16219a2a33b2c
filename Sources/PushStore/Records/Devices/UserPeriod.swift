package import PushTypes

/// The time for which a device was a user's.
package struct UserPeriod: Hashable, Sendable {
    package var device: Int64
    /// The end of the time before; `nil` for a device that had no other user before.
    package var since: Timestamp?
    /// `nil` while the device is the user's.
    package var until: Timestamp?

    package init(device: Int64, since: Timestamp? = nil, until: Timestamp? = nil) {
        (self.device, self.since, self.until) = (device, since, until)
    }

    /// Returns the tokens of a user's devices, each with the time from which it is the user's.
    package static func tokens(of devices: [DeviceRecord], _ periods: [UserPeriod]) -> [DeviceToken: Timestamp?] {
        let since = Dictionary(periods.filter { $0.until == nil }.map { ($0.device, $0.since) }) { $1 }
        return Dictionary(devices.map { ($0.token, since[$0.id] ?? nil) }) { $1 }
    }
}
