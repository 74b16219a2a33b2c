import HummingbirdCore
import Synchronization

/// Counts the connections of the admin listener, and bounds them. Further ones wait until one is closed.
final class AdminConnections: AvailableConnectionsDelegate {
    static let maximum = 256

    private let open = Atomic<Int>(0)

    var count: Int { self.open.load(ordering: .relaxed) }

    func connectionOpened() { self.open.add(1, ordering: .relaxed) }
    func connectionClosed() { self.open.subtract(1, ordering: .relaxed) }
    func isAcceptingNewConnections() -> Bool { self.count < Self.maximum }
}
