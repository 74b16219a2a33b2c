package import PushStore
package import PushSupport
import PushTypes
import Synchronization

/// The direct way of urgent notifications from their acceptance to the dispatcher, without a search in the store
/// (docs/decisions/0049).
///
/// A notification for a few named tokens that is due takes a slot of its lane before it is accepted, and is claimed in the
/// transaction that accepts it. One that finds no slot is accepted unclaimed, as all others are. The slots bound what is on
/// its way here, and divide it between apps and environments.
package final class DirectDispatch: Sendable {
    /// The most tokens of a notification that takes this way.
    static let maximumTokens = 8

    /// A notification on its way, and the slot in which it is sent.
    struct Work: Sendable {
        let shard: ClaimedShard
        let slot: LaneSlots.Slot
    }

    /// What is known while the dispatcher runs.
    private struct State {
        var slots: LaneSlots?
        var work: AsyncStream<Work>.Continuation?
        /// The targets of which a notification may wait in the store for a slot. Later ones wait behind it.
        var waiting: Set<DispatchTarget> = []
    }

    let ledger: LedgerWriter
    private let state = Mutex(State())

    /// - Parameter limits: Those of the dispatcher.
    package init(store: any DispatchStore, limits: DispatchLimits = DispatchLimits(), time: any TimeSource) {
        self.ledger = LedgerWriter(store: store, lease: limits.lease, time: time)
    }

    // MARK: Acceptance

    /// Takes a slot for a notification that is accepted now and due; `nil` for one that is to be found in the store.
    func reserve(for notification: NotificationRecord) -> LaneSlots.Slot? {
        guard notification.lane == .urgent, notification.delivery == nil, notification.pace == nil,
            case .tokens(let tokens) = notification.audience, tokens.count <= Self.maximumTokens
        else { return nil }
        let target = DispatchTarget(notification)
        return self.state.withLock { state in
            guard let slots = state.slots, !state.waiting.contains(target) else { return nil }
            if let slot = slots.reserve(.shards, target) { return slot }
            state.waiting.insert(target)
            return nil
        }
    }

    /// Hands a claimed notification to the dispatcher. One that has ended meanwhile leaves it claimed, as a crash would: the
    /// next start releases it.
    func start(_ shard: ClaimedShard, in slot: LaneSlots.Slot) {
        let work = self.state.withLock { $0.work }
        guard let work, case .enqueued = work.yield(Work(shard: shard, slot: slot)) else {
            self.ledger.leases.end(shard.claim.fence)
            slot.release()
            return
        }
    }

    // MARK: Dispatch

    /// Opens the way, on which notifications take these slots.
    func open(_ slots: LaneSlots) -> AsyncStream<Work> {
        let (stream, continuation) = AsyncStream<Work>.makeStream()
        self.state.withLock { $0 = State(slots: slots, work: continuation) }
        return stream
    }

    /// Closes the way. What is on it arrives.
    func close() {
        let work = self.state.withLock { state in
            defer { state = State() }
            return state.work
        }
        work?.finish()
    }

    /// Notes that no notification waits in the store for a slot, but for those of some targets.
    func noneWaits(besides excluded: Set<DispatchTarget>) {
        self.state.withLock { state in
            guard !state.waiting.isEmpty else { return }
            state.waiting.formIntersection(excluded)
        }
    }
}
