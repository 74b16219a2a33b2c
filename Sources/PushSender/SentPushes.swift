package import PushTypes

/// The outcomes of the pushes of one call, with their trips.
package struct SentPushes: Sendable {
    package var outcomes: [Outcome]
    /// The trips of the pushes in the same order; empty where they are not known.
    package var trips: [PushTrip] = []
    /// The connections of the call.
    package var connections: [OpenedConnection] = []

    package init(outcomes: [Outcome], trips: [PushTrip] = [], connections: [OpenedConnection] = []) {
        (self.outcomes, self.trips, self.connections) = (outcomes, trips, connections)
    }
}
