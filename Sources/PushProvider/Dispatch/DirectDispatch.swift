package import PushStore
package import PushSupport
import PushTypes
import Synchronization

/// The direct way of urgent notifications from their acceptance to the dispatcher, without a search in the store
/// (docs/decisions/0049).
///
/// A notification for a few named tokens that is due takes a place before it is accepted, and is claimed in the transaction
/// that accepts it. It keeps the place until there is a slot of the lane for it. Slots and places are divided between apps and
/// environments. A notification that finds no place is accepted unclaimed, as all others are.
package final class DirectDispatch: Sendable {
    /// The most tokens of a notification that takes this way.
    static let maximumTokens = 8

    /// A place on the way, for the notification of a target.
    struct Place: Sendable {
        fileprivate let target: DispatchTarget
        /// The notification's place in memory, from its claim to its results.
        let memory: ActiveClaim
    }

    /// A notification on its way.
    fileprivate struct Waiting {
        let shard: ClaimedShard
        let memory: ActiveClaim
        let freshUntil: Timestamp
    }

    /// A notification on its way, and the slot in which it is sent.
    struct Work: Sendable {
        let shard: ClaimedShard
        let memory: ActiveClaim
        /// The time by the steady clock until which it is sent as it was accepted. Later it is examined again.
        let freshUntil: Timestamp
        let slot: LaneSlots.Slot
    }

    /// The time for which a notification is sent as it was accepted: about as long as a claimed page may take otherwise.
    private static let freshness = Duration.seconds(1)

    /// The notifications of one target.
    fileprivate struct Queue {
        /// The places that are taken: by notifications that are being accepted, and by those that wait for a slot.
        var places = 0
        /// Those that wait for a slot.
        var waiting = FIFO<Waiting>()
    }

    /// The state while the dispatcher runs.
    fileprivate struct State {
        var slots: LaneSlots?
        var work: AsyncStream<Work>.Continuation?
        var queues: [DispatchTarget: Queue] = [:]
        /// The targets whose notifications wait for a slot, each once. They take turns.
        var turns = FIFO<DispatchTarget>()
        var places = 0
        /// The targets of which a notification may wait in the store. Later ones wait behind it.
        var waiting: Set<DispatchTarget> = []
    }

    let ledger: LedgerWriter
    /// The forwards, which go past the ledger and count in stops too.
    package let forwards = ForwardsInFlight()
    private let store: any DispatchStore
    private let time: any TimeSource
    private let maximum: Int
    private let state = Mutex(State())

    /// - Parameter limits: Those of the dispatcher.
    package init(store: any DispatchStore, limits: DispatchLimits = DispatchLimits(), time: any TimeSource) {
        self.maximum = limits.checked.urgentQueue
        (self.store, self.time) = (store, time)
        self.ledger = LedgerWriter(store: store, lease: limits.lease, time: time)
    }

    // MARK: Acceptance

    /// Takes a place for a notification that is accepted now and due; `nil` for one that is to be found in the store.
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

    /// Gives the place of a notification back that was not accepted, or not claimed.
    func leave(_ place: Place) { self.state.withLock { $0.free(place.target) } }

    /// Hands a claimed notification to the dispatcher, or releases it if the dispatcher has ended meanwhile.
    func start(_ shard: ClaimedShard, from place: Place) async {
        let freshUntil = self.time.steady.advanced(by: Self.freshness)
        let waiting = Waiting(shard: shard, memory: place.memory, freshUntil: freshUntil)
        let isAdded = self.state.withLock { $0.add(waiting, of: place.target) }
        if !isAdded { await self.release([waiting]) }
    }

    // MARK: Dispatch

    /// Opens the way, on which notifications take these slots.
    func open(_ slots: LaneSlots) -> AsyncStream<Work> {
        let (stream, continuation) = AsyncStream<Work>.makeStream()
        self.state.withLock { $0 = State(slots: slots, work: continuation) }
        return stream
    }

    /// Closes the way. What has a slot arrives; what waits for one is released.
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

    /// Releases notifications that are not sent from here. What cannot be written is released by the next start.
    private func release(_ left: [Waiting]) async {
        defer { for waiting in left { self.ledger.leases.end(waiting.shard.claim.fence, waiting.memory) } }
        guard !left.isEmpty else { return }
        let (store, claims) = (self.store, left.map(\.shard.claim))
        // Not cancellable: it is written even when the process has to end.
        _ = try? await Task { try await store.release(claims) }.value
    }

    /// Applies a stop to what the process has in memory, after the stop is in the store (docs/decisions/0051).
    ///
    /// A push that no connection has yet is not sent. The store decides about it again.
    /// - Returns: The pushes that are under way.
    package func apply(_ stop: StopScope) -> PushesInFlight { self.ledger.leases.apply(stop) }

    /// Takes back what an erasure concerns, as far as its tokens are known by now.
    /// - Returns: The pushes that are under way.
    package func takeBack(_ erasure: ErasureRecord, in store: any ErasureStore) async throws -> PushesInFlight {
        guard erasure.user != nil else { return self.apply(.app(erasure.app)) }
        return self.apply(.tokens(try await store.tokens(of: erasure), app: erasure.app))
    }

    /// Indicates whether a stop has nothing in memory to find.
    package var isIdle: Bool { self.ledger.leases.isIdle }

    /// Starts notifications for which there is a slot. Called when slots have become free.
    func fill() { self.state.withLock { $0.fill() } }

    /// Notes that no notification waits in the store, but for those of some targets.
    func noneWaits(besides excluded: Set<DispatchTarget>) {
        self.state.withLock { state in
            guard !state.waiting.isEmpty else { return }
            state.waiting.formIntersection(excluded)
        }
    }
}

extension DirectDispatch.State {
    /// Adds a notification, and starts it if nothing of its target waits before it.
    /// - Returns: `false` if the way has been closed since it took its place.
    fileprivate mutating func add(_ waiting: DirectDispatch.Waiting, of target: DispatchTarget) -> Bool {
        guard let isFirst = self.queues[target]?.waiting.isEmpty else { return false }
        self.queues[target]?.waiting.append(waiting)
        if isFirst, !self.startNext(of: target) { self.turns.append(target) }
        return true
    }

    /// Starts notifications while there are slots for them, one of each target before a second of any.
    fileprivate mutating func fill() {
        guard let slots else { return }
        var tries = self.turns.count
        while tries > 0, slots.hasFree(.shards), let target = self.turns.popFirst() {
            let isStarted = self.startNext(of: target)
            if self.queues[target]?.waiting.isEmpty == false { self.turns.append(target) }
            // Once none of them may have another slot, all have been tried in vain.
            tries = isStarted ? self.turns.count : tries - 1
        }
    }

    /// Starts the first notification of a target, if there is a slot for it.
    /// - Returns: `true` if it was started.
    private mutating func startNext(of target: DispatchTarget) -> Bool {
        guard let slots, let work, self.queues[target]?.waiting.isEmpty == false,
            let slot = slots.reserve(.shards, target), let next = self.queues[target]?.waiting.popFirst()
        else { return false }
        self.free(target)
        work.yield(
            DirectDispatch.Work(shard: next.shard, memory: next.memory, freshUntil: next.freshUntil, slot: slot)
        )
        return true
    }

    /// Frees a place.
    fileprivate mutating func free(_ target: DispatchTarget) {
        guard let places = self.queues[target]?.places else { return }
        self.places -= 1
        if places > 1 { self.queues[target]?.places = places - 1 } else { self.queues[target] = nil }
    }
}

/// Elements in the order in which they came.
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
            // Half of it is empty: what remains moves to the front.
            if self.first * 2 > self.elements.count {
                self.elements.removeFirst(self.first)
                self.first = 0
            }
        }
        return self.elements[self.first]
    }
}

extension DirectDispatch {
    /// Takes back what is in memory for devices that registrations have given other preferences, or taken their user from
    /// (docs/decisions/0051).
    /// - Returns: The number of pushes under way; `nil` if there is no such device.
    package func takeBack(_ results: [RegistrationResult], app: Int64) -> Int? {
        let outdated = results.flatMap(\.outdated)
        return outdated.isEmpty ? nil : self.takeBack(devices: outdated, app: app)
    }

    /// Takes back what is in memory for devices that have changed.
    /// - Returns: The number of pushes under way.
    @discardableResult package func takeBack(devices: [Int64], app: Int64) -> Int {
        devices.isEmpty ? 0 : self.apply(.devices(Set(devices), app: app)).count
    }
}

/// The messages that bridges forward at once, and that the ledger does not have. A stop of their app counts those that are
/// under way (docs/decisions/0051).
package final class ForwardsInFlight: Sendable {
    private let counts = Mutex<[Int64: Int]>([:])

    package init() {}

    /// Forwards a message of an app, which counts until this returns.
    ///
    /// The stop of the app is looked up within `body`, so that one that comes later counts the message.
    package func forward<Value>(app: Int64, _ body: () async throws -> Value) async throws -> Value {
        self.change(app, by: 1)
        defer { self.change(app, by: -1) }
        return try await body()
    }

    /// Returns the number of an app's messages that are under way.
    package func count(of app: Int64) -> Int { self.counts.withLock { $0[app] ?? 0 } }

    private func change(_ app: Int64, by number: Int) {
        self.counts.withLock { counts in
            let count = (counts[app] ?? 0) + number
            counts[app] = count > 0 ? count : nil
        }
    }
}
