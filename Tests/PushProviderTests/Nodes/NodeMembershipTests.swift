import Logging
import PushStore
import PushSupport
import PushTesting
import PushTypes
import ServiceLifecycle
import Synchronization
import Testing

@testable import PushProvider

/// The membership in the nodes that share a store, and what depends on it.
@Suite(.timeLimit(.patience)) struct NodeMembershipTests {
    private let store = ScriptedNodeStore()

    private func membership(_ time: ManualTime = ManualTime()) async throws -> NodeMembership {
        NodeMembership(
            store: self.store,
            node: NodeDescription(name: "a", version: "1"),
            time: try await SharedTime(self.store, base: time),
            wakes: [],
            logger: silentLogger
        )
    }

    @Test func allNodesFollowTheClockOfTheStore() async throws {
        let time = ManualTime()
        self.store.state.withLock { $0.clock = time.now.advanced(by: .seconds(3600)) }
        let shared = try await SharedTime(self.store, base: time)
        #expect(shared.now == time.now.advanced(by: .seconds(3600)) && shared.steady == shared.now)
        #expect(shared.offset == .seconds(-3600))
        time.advance(by: .seconds(5))
        #expect(shared.now == time.now.advanced(by: .seconds(3600)))
    }

    @Test func aServiceRunsWhereItsDutyIs() async throws {
        let nodes = try await self.membership()
        let service = CountingService()
        let exclusive = (nodes as NodeMembership?).exclusive(service, .webhooks)
        try await nodes.join()
        let running = Task { try await exclusive.run() }
        #expect(!nodes.holds(.webhooks))
        for round in 1...2 {
            self.store.state.withLock { $0.duties = [.webhooks] }
            // A duty is lost without further heartbeats.
            try await eventually {
                try await nodes.beat()
                return service.starts.withLock { $0 } == round
            }
            self.store.state.withLock { $0.duties = [] }
            try await nodes.beat()
            try await eventually { service.ends.withLock { $0 } == round }
        }
        running.cancel()
        _ = await running.result
    }

    @Test func withoutOtherNodesAServiceIsNotWrapped() {
        let nodes: NodeMembership? = nil
        #expect(nodes.exclusive(CountingService(), .webhooks) is CountingService)
    }

    /// After an outage of the store, the others may only not have come to send theirs.
    @Test func onlyWhoHasBeenSteadyFindsOthersDead() async throws {
        let nodes = try await self.membership()
        try await nodes.join()
        try await nodes.beat()
        #expect(self.store.state.withLock { $0.judged } == [false, false])
    }

    @Test func aChangeThatCannotBeTakenIntoAccountIsToldAgain() async throws {
        let nodes = try await self.membership()
        let told = Told()
        nodes.observe { change in
            told.changes.withLock { $0.append(change) }
            return told.changes.withLock { $0.count } > 1
        }
        try await nodes.join()
        let change = StoreChange(kind: .stop, app: 7)
        self.store.state.withLock { $0.changes = [change] }
        let running = Task { await nodes.run() }
        try await eventually { told.changes.withLock { $0.count } >= 2 }
        nodes.end()
        await running.value
        #expect(told.changes.withLock { $0 } == [change, change])
        await nodes.leave()
        #expect(self.store.state.withLock { $0.hasLeft })
    }

    @Test func aSignalOutlivesATaskThatWaitedForIt() async {
        let wake = WakeSignal()
        let waiting = Task { await wake.wait(atMost: .seconds(3600)) }
        waiting.cancel()
        #expect(await waiting.value == false)
        wake.signal()
        #expect(await wake.wait(atMost: .seconds(3600)))
        wake.end()
        #expect(await wake.wait(atMost: .seconds(3600)) == false)
    }
}

private final class Told: Sendable {
    let changes = Mutex<[StoreChange]>([])
}

/// Runs until it is cancelled.
private final class CountingService: Service {
    let starts = Mutex(0)
    let ends = Mutex(0)

    func run() async throws {
        self.starts.withLock { $0 += 1 }
        try? await Task.sleep(for: .seconds(3600))
        self.ends.withLock { $0 += 1 }
    }
}

private final class ScriptedNodeStore: NodeStore {
    struct State {
        var clock = Vectors.issuedAt
        var duties: Set<NodeDuty> = []
        /// The changes that the next call reads.
        var changes: Set<StoreChange> = []
        var judged: [Bool] = []
        var hasLeft = false
    }

    let state = Mutex(State())

    var isShared: Bool { true }
    func clock() async throws -> Timestamp { self.state.withLock { $0.clock } }
    func join(_ node: NodeDescription, now: Timestamp) async throws {}
    func beat(_ node: NodeDescription, at now: Timestamp, judges: Bool) async throws -> NodeBeat {
        self.state.withLock { state in
            state.judged.append(judges)
            var beat = NodeBeat(id: 1)
            beat.duties = state.duties
            return beat
        }
    }
    func leave(now: Timestamp) async throws { self.state.withLock { $0.hasLeft = true } }
    func readChanges() async throws -> Set<StoreChange> {
        self.state.withLock { state in
            defer { state.changes = [] }
            return state.changes
        }
    }
    func nodes() async throws -> [NodeRecord] { [] }
}
