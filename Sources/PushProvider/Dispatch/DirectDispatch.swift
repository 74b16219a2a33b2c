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
    }

    /// A notification on its way, and the slot in which it is sent.
    struct Work: Sendable {
        let shard: ClaimedShard
        let slot: LaneSlots.Slot
    }

    /// The notifications of one target.
    fileprivate struct Queue {
        /// The places that are taken: by notifications that are being accepted, and by those that wait for a slot.
        var places = 0
        /// Those that wait for a slot.
        var shards = ClaimedShardQueue()
    }

    /// What is known while the dispatcher runs.
    fileprivate struct State {
        var slots: LaneSlots?
        var work: AsyncStream<Work>.Continuation?
        var queues: [DispatchTarget: Queue] = [:]
        var places = 0
        /// The targets of which a notification may wait in the store. Later ones wait behind it.
        var waiting: Set<DispatchTarget> = []
    }

    let ledger: LedgerWriter
    private let maximum: Int
    private let state = Mutex(State())

    /// - Parameter limits: Those of the dispatcher.
    package init(store: any DispatchStore, limits: DispatchLimits = DispatchLimits(), time: any TimeSource) {
        self.maximum = limits.checked.urgentQueue
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
            return Place(target: target)
        }
    }

    /// Gives the place of a notification back that was not accepted, or not claimed.
    func leave(_ place: Place) { self.state.withLock { $0.free(place.target) } }

    /// Hands a claimed notification to the dispatcher. One that has ended meanwhile leaves it claimed, as a crash would: the
    /// next start releases it.
    func start(_ shard: ClaimedShard, from place: Place) {
        let isOpen = self.state.withLock { state in
            state.queues[place.target]?.shards.append(shard)
            state.fill(place.target)
            return state.slots != nil
        }
        if !isOpen { self.ledger.leases.end(shard.claim.fence) }
    }

    // MARK: Dispatch

    /// Opens the way, on which notifications take these slots.
    func open(_ slots: LaneSlots) -> AsyncStream<Work> {
        let (stream, continuation) = AsyncStream<Work>.makeStream()
        self.state.withLock { $0 = State(slots: slots, work: continuation) }
        return stream
    }

    /// Closes the way. What has a slot arrives; what waits for one stays claimed until the next start.
    func close() {
        let before = self.state.withLock { state in
            defer { state = State() }
            return state
        }
        before.work?.finish()
        for queue in before.queues.values {
            var shards = queue.shards
            while let shard = shards.popFirst() { self.ledger.leases.end(shard.claim.fence) }
        }
    }

    /// Starts notifications for which there is a slot. Called when slots have become free.
    func fill() {
        self.state.withLock { state in
            guard state.places > 0 else { return }
            for target in state.queues.keys { state.fill(target) }
        }
    }

    /// Notes that no notification waits in the store, but for those of some targets.
    func noneWaits(besides excluded: Set<DispatchTarget>) {
        self.state.withLock { state in
            guard !state.waiting.isEmpty else { return }
            state.waiting.formIntersection(excluded)
        }
    }
}

extension DirectDispatch.State {
    /// Starts notifications of a target while there are slots for it.
    fileprivate mutating func fill(_ target: DispatchTarget) {
        guard let slots, let work else { return }
        while self.queues[target]?.shards.isEmpty == false, let slot = slots.reserve(.shards, target) {
            guard let shard = self.queues[target]?.shards.popFirst() else { return }
            self.free(target)
            work.yield(DirectDispatch.Work(shard: shard, slot: slot))
        }
    }

    /// Frees a place.
    fileprivate mutating func free(_ target: DispatchTarget) {
        guard let places = self.queues[target]?.places else { return }
        self.places -= 1
        if places > 1 { self.queues[target]?.places = places - 1 } else { self.queues[target] = nil }
    }
}

/// Claimed shards in the order in which they came.
fileprivate struct ClaimedShardQueue {
    private var shards: [ClaimedShard?] = []
    private var first = 0

    var isEmpty: Bool { self.first == self.shards.count }

    mutating func append(_ shard: ClaimedShard) { self.shards.append(shard) }

    mutating func popFirst() -> ClaimedShard? {
        guard !self.isEmpty else { return nil }
        defer {
            self.shards[self.first] = nil
            self.first += 1
            // Half of it is empty: what remains moves to the front.
            if self.first * 2 > self.shards.count {
                self.shards.removeFirst(self.first)
                self.first = 0
            }
        }
        return self.shards[self.first]
    }
}
