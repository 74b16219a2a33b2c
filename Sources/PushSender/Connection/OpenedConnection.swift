package import PushTypes

/// A connection that carried pushes, for the record of what became of them.
package final class OpenedConnection: Sendable {
    /// The push service, `host:port`.
    package let service: String
    /// The address at the other end, `address:port`, the proxy's behind a proxy; `nil` if it is not known.
    package let address: String?
    /// The port at this end, by which captures and other logs find it.
    package let localPort: Int?
    package let openedAt: Timestamp

    package init(service: String, address: String?, localPort: Int?, openedAt: Timestamp) {
        (self.service, self.address) = (service, address)
        (self.localPort, self.openedAt) = (localPort, openedAt)
    }
}

/// The way of one push.
package struct PushTrip: Hashable, Sendable {
    /// The index of its connection in ``SentPushes/connections``; below zero for a push that no connection carried.
    package var connection: Int32
    /// The time from the call that sent the push until its outcome was known.
    package var milliseconds: Int32

    package init(connection: Int32 = -1, milliseconds: Int32 = 0) {
        (self.connection, self.milliseconds) = (connection, milliseconds)
    }
}

/// The outcomes of the pushes of one call, with their ways.
package struct SentPushes: Sendable {
    package var outcomes: [Outcome]
    /// The ways of the pushes in the same order; empty where they are not known.
    package var trips: [PushTrip] = []
    /// The connections of the call.
    package var connections: [OpenedConnection] = []

    package init(outcomes: [Outcome], trips: [PushTrip] = [], connections: [OpenedConnection] = []) {
        (self.outcomes, self.trips, self.connections) = (outcomes, trips, connections)
    }
}
