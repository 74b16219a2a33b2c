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
    /// The time since which the caller has had the tokens that the notification names. One of them that is known to be invalid
    /// since is not accepted (``Acceptance/inactiveToken(_:)``). It is not stored. `nil` accepts all.
    package var tokensSince: Timestamp?

    package init(
        receivedAt: Timestamp? = nil,
        checkedIn: Int64? = nil,
        warnings: [String] = [],
        origin: NotificationOrigin? = nil,
        tokensSince: Timestamp? = nil
    ) {
        (self.receivedAt, self.checkedIn, self.warnings, self.origin) = (receivedAt, checkedIn, warnings, origin)
        self.tokensSince = tokensSince
    }
}
