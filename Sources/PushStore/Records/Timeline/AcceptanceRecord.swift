package import PushTypes

/// The acceptance of a notification as it is remembered.
package struct AcceptanceRecord: Hashable, Sendable {
    /// The time at which the request had arrived.
    package var receivedAt: Timestamp?
    /// The time that reading and checking the request took, in microseconds.
    package var checkedIn: Int64?
    /// The members that were allowed and probably not intended.
    package var warnings: [String]
    /// The bridge whose request it was; `nil` for a request of the API.
    package var origin: NotificationOrigin?

    package init(
        receivedAt: Timestamp? = nil,
        checkedIn: Int64? = nil,
        warnings: [String] = [],
        origin: NotificationOrigin? = nil
    ) {
        (self.receivedAt, self.checkedIn, self.warnings, self.origin) = (receivedAt, checkedIn, warnings, origin)
    }
}
