package import ProviderModel
package import PushStore
package import PushSupport
import PushTypes
import Synchronization

/// Passes urgent notifications straight to the dispatcher when they are accepted, so that it need not search the store
/// for them (docs/decisions/0049).
///
/// A due notification for a few tokens reserves a place in a queue before it is accepted, and is claimed in the
/// transaction that accepts it. It keeps the place until a slot of the lane is free. Slots and places are divided
/// between apps and environments. If there is no free place, the notification is accepted unclaimed, like all others.
package final class DirectDispatch: Sendable {
    /// The maximum number of tokens of a notification that is dispatched directly. One with more waits in the store.
    static let maximumTokens = 8

    /// A reserved place in the queue of a target (an app and an environment).
    struct Place: Sendable {
        fileprivate let target: DispatchTarget
        let memory: ActiveClaim
    }

    fileprivate struct Waiting {
        let shard: ClaimedShard
        let memory: ActiveClaim
        let freshUntil: Timestamp
    }

    struct Work: Sendable {
        let shard: ClaimedShard
        let memory: ActiveClaim
        /// The time by the steady clock after which the notification's page is read again before it is sent.
        let freshUntil: Timestamp
        let slot: LaneSlots.Slot
    }

    /// The time after acceptance within which a notification is sent without reading its page from the store again. A
    /// page that the store returns together with a claim may be equally old.
    private static let freshness = Duration.seconds(1)

    fileprivate struct Queue {
        /// The number of reserved places, for notifications that are being accepted or wait for a slot.
        var places = 0
        var waiting = FIFO<Waiting>()
    }

    fileprivate struct State {
        var slots: LaneSlots?
        var work: AsyncStream<Work>.Continuation?
        var queues: [DispatchTarget: Queue] = [:]
        /// The targets whose notifications wait for a slot, each once, in the order of their turns.
        var turns = FIFO<DispatchTarget>()
        var places = 0
        /// The targets for which a notification may wait in the store. Later notifications to such a target wait there.
        var waiting: Set<DispatchTarget> = []
    }

    let ledger: LedgerWriter
    /// The messages that bridges are forwarding. They are not in the ledger, but a stop counts them as in flight.
    package let forwards = ForwardsInFlight()
    private let store: any DispatchStore
    private let time: any TimeSource
    private let maximum: Int
    private let state = Mutex(State())

    /// Creates queues, which are closed until ``open(_:)``. `limits` bound the number of waiting notifications.
    package init(store: any DispatchStore, limits: DispatchLimits = DispatchLimits(), time: any TimeSource) {
        self.maximum = limits.checked.urgentQueue
        (self.store, self.time) = (store, time)
        self.ledger = LedgerWriter(store: store, lease: limits.lease, time: time)
    }

    // MARK: Acceptance

    /// Reserves a place for a notification that will be accepted, or returns `nil` if it must wait in the store.
    func place(for notification: NotificationRecord) -> Place? {
        guard notification.lane == .urgent, notification.delivery == nil, notification.pace == nil,
            case .tokens(let tokens) = notification.audience, tokens.count <= Self.maximumTokens
        else { return nil }
        let target = DispatchTarget(notification)
        return self.state.withLock { state in
            guard state.slots != nil, !state.waiting.contains(target) else { return nil }
            guard state.places < self.maximum, state.queues[target]?.places ?? 0 < self.maximum / 4 else {
                state.waiting.insert(target)
                return nil
            }
            state.places += 1
            state.queues[target, default: Queue()].places += 1
            return Place(target: target, memory: ActiveClaim(notification))
        }
    }

    /// Frees the place of a notification that was not accepted, or not claimed.
    func leave(_ place: Place) { self.state.withLock { $0.free(place.target) } }

    /// Hands a claimed notification to the dispatcher, or releases it if the dispatcher has stopped meanwhile.
    func start(_ shard: ClaimedShard, from place: Place) async {
        let freshUntil = self.time.steady.advanced(by: Self.freshness)
        let waiting = Waiting(shard: shard, memory: place.memory, freshUntil: freshUntil)
        let isAdded = self.state.withLock { $0.add(waiting, of: place.target) }
        if !isAdded { await self.release([waiting]) }
    }

    // MARK: Dispatch

    /// Opens the queues, and returns a stream of the notifications that have been assigned one of the slots.
    func open(_ slots: LaneSlots) -> AsyncStream<Work> {
        let (stream, continuation) = AsyncStream<Work>.makeStream()
        self.state.withLock { $0 = State(slots: slots, work: continuation) }
        return stream
    }

    /// Closes the queues. Notifications with a slot are sent, and those that wait for one are released.
    func close() async {
        let before = self.state.withLock { state in
            defer { state = State() }
            return state
        }
        before.work?.finish()
        var left: [Waiting] = []
        for queue in before.queues.values {
            var queue = queue
            while let waiting = queue.waiting.popFirst() { left.append(waiting) }
        }
        await self.release(left)
    }

    /// Releases notifications that this process will not send. If that fails, the next start of the process does so.
    private func release(_ left: [Waiting]) async {
        defer { for waiting in left { self.ledger.leases.end(waiting.shard.claim.fence, waiting.memory) } }
        guard !left.isEmpty else { return }
        let (store, claims) = (self.store, left.map(\.shard.claim))
        // The task cannot be cancelled, so that the release is written even while the process ends.
        _ = try? await Task { try await store.release(claims) }.value
    }

    /// Applies a stop, such as a cancellation, to the claims in memory, after it is in the store (docs/decisions/0051).
    ///
    /// A push that was not given to a connection is not sent. The store decides again whether to send it.
    /// - Returns: The pushes in flight that could not be taken back.
    package func apply(_ stop: StopScope) -> PushesInFlight { self.ledger.leases.apply(stop) }

    /// Applies the stops of an app and of its notifications that another node has stored.
    /// - Returns: `false` if they cannot be read now.
    package func stopped(app: Int64, in store: any AppStore & NotificationStore) async -> Bool {
        do {
            if try await store.stop(of: app) != nil { _ = self.apply(.app(app)) }
            for id in self.ledger.leases.notifications(of: app) {
                let state = try await store.notification(id)?.state
                if state == nil || state == .paused || state == .cancelled { _ = self.apply(.notification(id)) }
            }
            return true
        } catch {
            return false
        }
    }

    /// Takes back the pushes that an erasure affects: all of the app, or those to the user's known tokens.
    /// - Returns: The pushes in flight that could not be taken back.
    package func takeBack(_ erasure: ErasureRecord, in store: any ErasureStore) async throws -> PushesInFlight {
        guard erasure.user != nil else { return self.apply(.app(erasure.app)) }
        return self.apply(.tokens(try await store.tokens(of: erasure), app: erasure.app))
    }

    /// A Boolean value that indicates whether there is nothing in memory to which a stop could apply.
    package var isIdle: Bool { self.ledger.leases.isIdle }

    /// Starts the notifications for which there is a slot. The dispatcher calls it when slots have become free.
    func fill() { self.state.withLock { $0.fill() } }

    /// Records that no notifications wait in the store, except possibly for the targets in `excluded`. The
    /// notifications to all other targets may use the queues again.
    func noneWaits(besides excluded: Set<DispatchTarget>) {
        self.state.withLock { state in
            guard !state.waiting.isEmpty else { return }
            state.waiting.formIntersection(excluded)
        }
    }
}

extension DirectDispatch.State {
    /// Queues a notification, and starts it if no other notification of its target is waiting.
    /// - Returns: `true` if it was queued, and `false` if the queues were closed meanwhile.
    fileprivate mutating func add(_ waiting: DirectDispatch.Waiting, of target: DispatchTarget) -> Bool {
        guard let isFirst = self.queues[target]?.waiting.isEmpty else { return false }
        self.queues[target]?.waiting.append(waiting)
        if isFirst, !self.startNext(of: target) { self.turns.append(target) }
        return true
    }

    /// Starts notifications while there are slots, one of each target in turn.
    fileprivate mutating func fill() {
        guard let slots else { return }
        var tries = self.turns.count
        while tries > 0, slots.hasFree(.shards), let target = self.turns.popFirst() {
            let isStarted = self.startNext(of: target)
            if self.queues[target]?.waiting.isEmpty == false { self.turns.append(target) }
            // When every target in turn was refused a slot, all have been tried.
            tries = isStarted ? self.turns.count : tries - 1
        }
    }

    /// Starts the first notification of a target, if there is a slot for it.
    /// - Returns: `true` if it was started, and `false` if there was no slot.
    private mutating func startNext(of target: DispatchTarget) -> Bool {
        guard let slots, let work, self.queues[target]?.waiting.isEmpty == false,
            let slot = slots.reserve(.shards, target), let next = self.queues[target]?.waiting.popFirst()
        else { return false }
        self.free(target)
        work.yield(DirectDispatch.Work(shard: next.shard, memory: next.memory, freshUntil: next.freshUntil, slot: slot))
        return true
    }

    fileprivate mutating func free(_ target: DispatchTarget) {
        guard let places = self.queues[target]?.places else { return }
        self.places -= 1
        if places > 1 { self.queues[target]?.places = places - 1 } else { self.queues[target] = nil }
    }
}

fileprivate struct FIFO<Element> {
    private var elements: [Element?] = []
    private var first = 0

    var isEmpty: Bool { self.first == self.elements.count }
    var count: Int { self.elements.count - self.first }

    mutating func append(_ element: Element) { self.elements.append(element) }

    mutating func popFirst() -> Element? {
        guard !self.isEmpty else { return nil }
        defer {
            self.elements[self.first] = nil
            self.first += 1
            // More than half of the array is free: the rest moves to the front.
            if self.first * 2 > self.elements.count {
                self.elements.removeFirst(self.first)
                self.first = 0
            }
        }
        return self.elements[self.first]
    }
}

extension DirectDispatch {
    /// Takes back the pushes to devices whose registrations have changed.
    /// - Returns: The number of pushes in flight that could not be taken back.
    @discardableResult package func takeBack(devices: [Int64], app: Int64) -> Int {
        devices.isEmpty ? 0 : self.apply(.devices(Set(devices), app: app)).count
    }
}
