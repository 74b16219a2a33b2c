/// The transmission of one push: the connection that carried it, and the time until its outcome was known.
package struct PushTrip: Hashable, Sendable {
    /// The index of its connection among those of its call or its page; below zero for a push that no connection carried.
    package var connection: Int32
    /// The time from the call that sent the push until its outcome was known.
    package var milliseconds: Int32

    package init(connection: Int32 = -1, milliseconds: Int32 = 0) {
        (self.connection, self.milliseconds) = (connection, milliseconds)
    }

    /// Returns the trip of a call as one of a page.
    /// - Parameter first: The index of the call's first connection among those of the page.
    package func movedBehind(_ first: Int32) -> PushTrip {
        guard self.connection >= 0 else { return self }
        let (sum, overflow) = self.connection.addingReportingOverflow(first)
        return PushTrip(connection: overflow ? -1 : sum, milliseconds: self.milliseconds)
    }
}
