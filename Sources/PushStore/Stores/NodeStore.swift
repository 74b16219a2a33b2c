package import PushTypes

/// The store of the nodes, which are the processes that use the store at the same time (docs/decisions/0055).
package protocol NodeStore: Sendable {
    /// A Boolean value that indicates whether other processes may use the store at the same time.
    var isShared: Bool { get }
    /// Returns the time of the store's clock, which all nodes follow.
    func clock() async throws -> Timestamp
    /// Adds this process as a node. It is called once, before anything is claimed.
    func join(_ node: NodeDescription, now: Timestamp) async throws
    /// Records a heartbeat of this node.
    ///
    /// It also takes over from nodes that have ended: their leases end, and their duties become free. This node takes
    /// the free duties. If the others have taken it for dead, it continues as a new node.
    ///
    /// A node is dead after ``NodeBeat/patience`` without a heartbeat. The time for which this node itself could not
    /// store one does not count, because then the store was away for the others as well.
    func beat(_ node: NodeDescription, at now: Timestamp) async throws -> NodeBeat
    /// Ends this node, so that the others take over from it immediately.
    func leave(now: Timestamp) async throws
    /// Reads what has changed since the last call, by any node, and forgets what the store has cached of it.
    func readChanges() async throws -> Set<StoreChange>
    /// Returns the nodes, oldest first. Those that have ended are kept for a day.
    func nodes() async throws -> [NodeRecord]
}

/// A task that one node at a time performs for all.
package enum NodeDuty: String, CaseIterable, Hashable, Sendable {
    case webhooks, schedules, retention, feedback, receipts, campaigns, chatSessions, xmppComponents
}

/// A record, or a kind of record, that another node may have changed.
package struct StoreChange: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case app, bridge
        /// The credential, the circuit breaker or the pause of an app's environment.
        case environment
    }

    package var kind: Kind
    /// The app whose record has changed, or 0 if any may have.
    package var app: Int64

    package init(kind: Kind, app: Int64) { (self.kind, self.app) = (kind, app) }
}

/// The facts about a node that an operator recognizes it by.
package struct NodeDescription: Hashable, Sendable {
    package var name: String
    /// The version of the program.
    package var version: String
    /// The origin of its API, or `nil` for a node without a listener.
    package var address: String?

    package init(name: String, version: String, address: String? = nil) {
        (self.name, self.version, self.address) = (name, version, address)
    }
}

/// A node, from its start to a day after its end.
package struct NodeRecord: Hashable, Sendable {
    /// The number of the node. Each start gets a new one.
    package let id: Int64
    package var description: NodeDescription
    package var startedAt: Timestamp
    /// The time of the last heartbeat.
    package var seenAt: Timestamp
    /// The time at which it ended or was taken for dead, or `nil` while it is alive.
    package var endedAt: Timestamp?
    package var duties: [NodeDuty]

    package init(
        id: Int64,
        _ description: NodeDescription,
        startedAt: Timestamp,
        seenAt: Timestamp,
        endedAt: Timestamp?,
        duties: [NodeDuty]
    ) {
        (self.id, self.description, self.startedAt, self.seenAt) = (id, description, startedAt, seenAt)
        (self.endedAt, self.duties) = (endedAt, duties)
    }
}

/// The result of a heartbeat.
package struct NodeBeat: Hashable, Sendable {
    /// The time between two heartbeats.
    package static let interval: Duration = .seconds(5)
    /// The time after the last heartbeat at which a node is dead for the others.
    package static let patience: Duration = .seconds(20)

    /// The number of this node, which is a new one if the others had taken it for dead.
    package var id: Int64
    package var duties: Set<NodeDuty> = []
    /// The nodes that this heartbeat has found dead.
    package var ended: [Int64] = []
    /// The number of recipients that were in flight at dead nodes under the guarantee `atMostOnce`.
    package var interrupted = 0
    /// The number of nodes that are alive, including this one.
    package var count = 1

    package init(id: Int64) { self.id = id }
}
