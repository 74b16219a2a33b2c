package import Logging
package import PushStore
import PushSupport
import PushTypes
package import ServiceLifecycle
import Synchronization

/// The membership of this process in the nodes that share a store (docs/decisions/0055).
///
/// A node sends a heartbeat every 5 seconds. After 20 seconds without one, the others take it for dead, and one of them
/// takes over its leases and its duties. A node that cannot reach the store gives up its duties before that.
package final class NodeMembership: Sendable {
    /// The time after the last heartbeat for which a node performs its duties.
    static let trust: Duration = .seconds(15)
    /// The time between two looks at what other nodes have written.
    private static let poll: Duration = .seconds(1)

    private struct State {
        var beat: NodeBeat?
        /// The beginning of the last heartbeat that reached the store.
        var beatAt: ContinuousClock.Instant?
        /// The beginning of the time since which all heartbeats have reached the store in time.
        var steadySince: ContinuousClock.Instant?
        /// The changes that an observer could not take into account yet.
        var changes: Set<StoreChange> = []
    }

    private let store: any NodeStore
    private let node: NodeDescription
    private let time: SharedTime
    /// The signals of all sleeping services. What another node has written reaches them by polling.
    private let wakes: [WakeSignal]
    private let logger: Logger
    private let state = Mutex(State())
    private let ending = WakeSignal()
    private let observers = Mutex<[@Sendable (StoreChange) async -> Bool]>([])

    package init(
        store: any NodeStore,
        node: NodeDescription,
        time: SharedTime,
        wakes: [WakeSignal],
        logger: Logger
    ) {
        (self.store, self.node, self.time, self.wakes, self.logger) = (store, node, time, wakes, logger)
    }

    /// The number of nodes that were alive at the last heartbeat.
    package var count: Int { self.state.withLock { max(1, $0.beat?.count ?? 1) } }

    /// The time by which the wall clock of this computer is ahead of the store's.
    package var clockOffset: Duration { self.time.offset }

    /// Returns whether this node performs a duty now.
    package func holds(_ duty: NodeDuty) -> Bool {
        self.state.withLock { state in
            guard let beat = state.beat, let beatAt = state.beatAt else { return false }
            return beat.duties.contains(duty) && ContinuousClock.now < beatAt + Self.trust
        }
    }

    /// Adds this process as a node, before anything is claimed.
    package func join() async throws {
        try await self.store.join(self.node, now: self.time.steady)
        try await self.beat()
        // Nothing is cached yet.
        _ = try await self.store.readChanges()
    }

    /// Sends heartbeats until ``end()``. Graceful shutdown does not end them, because work in flight continues.
    package func run() async {
        var next = ContinuousClock.now + NodeBeat.interval
        while await self.ending.wait(atMost: Self.poll) {
            if ContinuousClock.now >= next {
                next = .now + NodeBeat.interval
                do { try await self.beat() } catch {
                    self.logger.error("the heartbeat cannot be stored", metadata: ["error": "\(error)"])
                }
            }
            await self.readChanges()
            for wake in self.wakes { wake.signal() }
        }
    }

    /// Calls `observer` with the changes of other nodes, and with those of this one, about a second after they were
    /// made. If it returns `false`, it is called again.
    package func observe(_ observer: @escaping @Sendable (StoreChange) async -> Bool) {
        self.observers.withLock { $0.append(observer) }
    }

    private func readChanges() async {
        // The store reports what it could not read now with the next call.
        guard let new = try? await self.store.readChanges() else { return }
        let observers = self.observers.withLock { $0 }
        var failed: Set<StoreChange> = []
        for change in self.state.withLock({ $0.changes }).union(new) {
            for observer in observers where await !observer(change) { failed.insert(change) }
        }
        self.state.withLock { [failed] in $0.changes = failed }
    }

    /// Sends one heartbeat, and takes its result into account.
    func beat() async throws {
        let start = ContinuousClock.now
        try await self.time.follow(self.store)
        let isSteady = self.state.withLock { state in
            // After an outage of the store or of this node, the others first get the time to send theirs.
            if state.beatAt.map({ start - $0 > NodeBeat.interval * 2 }) ?? true { state.steadySince = start }
            return state.steadySince.map { start - $0 >= NodeBeat.patience } ?? false
        }
        let beat = try await self.store.beat(self.node, at: self.time.steady, judges: isSteady)
        let last = self.state.withLock { state in
            defer { (state.beat, state.beatAt) = (beat, start) }
            return state.beat
        }
        if let last, last.id != beat.id {
            self.logger.warning("the other nodes took this one for dead", metadata: ["node": "\(beat.id)"])
        }
        if !beat.ended.isEmpty {
            let nodes = beat.ended.map(String.init).joined(separator: ", ")
            self.logger.warning(
                "nodes are dead, this one takes over",
                metadata: ["nodes": "\(nodes)", "interrupted": "\(beat.interrupted)"]
            )
        }
        if last?.duties != beat.duties {
            let duties = beat.duties.map(\.rawValue).sorted().joined(separator: " ")
            self.logger.info("duties of this node", metadata: ["node": "\(beat.id)", "duties": "\(duties)"])
        }
    }

    /// Ends the heartbeats.
    package func end() { self.ending.end() }

    /// Gives everything back to the others, after the last heartbeat.
    package func leave() async {
        self.state.withLock { $0.beat = nil }
        do { try await self.store.leave(now: self.time.steady) } catch {
            self.logger.warning("this node ends without notice to the others", metadata: ["error": "\(error)"])
        }
    }
}

/// A service that one node at a time runs for all.
private struct ExclusiveService: Service {
    private let duty: NodeDuty
    private let nodes: NodeMembership
    private let service: any Service

    init(_ service: any Service, _ duty: NodeDuty, of nodes: NodeMembership) {
        (self.service, self.duty, self.nodes) = (service, duty, nodes)
    }

    /// Runs the service while this node holds the duty, until graceful shutdown. After the loss of the duty, the
    /// service is cancelled, and starts again if the duty returns.
    func run() async throws {
        let wake = WakeSignal()
        try await withGracefulShutdownHandler {
            repeat {
                guard self.nodes.holds(self.duty) else { continue }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await self.service.run() }
                    group.addTask {
                        while self.nodes.holds(self.duty) { try await Task.sleep(for: .milliseconds(500)) }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } while await wake.wait(atMost: .seconds(1))
        } onGracefulShutdown: {
            wake.end()
        }
    }
}

extension NodeMembership? {
    /// Returns a service that one node at a time runs. Without other nodes, this is the service itself.
    package func exclusive(_ service: any Service, _ duty: NodeDuty) -> any Service {
        self.map { ExclusiveService(service, duty, of: $0) } ?? service
    }
}
