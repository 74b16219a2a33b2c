package import PushTypes

/// The acceptance of a notification as it is remembered.
package struct AcceptanceRecord: Hashable, Sendable {
    /// The time at which the request had arrived.
    package var receivedAt: Timestamp?
    /// The time that reading and checking the request took, in microseconds.
    package var checkedIn: Int64?
    /// The members that were allowed and probably not intended.
    package var warnings: [String]

    package init(receivedAt: Timestamp? = nil, checkedIn: Int64? = nil, warnings: [String] = []) {
        (self.receivedAt, self.checkedIn, self.warnings) = (receivedAt, checkedIn, warnings)
    }
}
