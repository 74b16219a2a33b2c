import ProviderModel
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// The slots of one lane, each the right to work on one page, for new work and for retries.
final class LaneSlots: Sendable {
    enum Kind: CaseIterable, Sendable {
        case shards, retries
    }

    private let allocators: Mutex<[Kind: SlotAllocator]>
    private let time: any TimeSource
    private let isWanted = Atomic(false)

    init(_ lane: NotificationRecord.Lane, limits: DispatchLimits, time: any TimeSource) {
        self.time = time
        self.allocators = Mutex([
            .shards: SlotAllocator(lane == .urgent ? limits.urgent : limits.bulk),
            .retries: SlotAllocator(limits.retries),
        ])
    }

    var isBusy: Bool { self.allocators.withLock { $0.values.contains { $0.isBusy } } }

    /// Returns the offers of slots for new work, and records that other work may wait for a slot.
    func offersOfShards() -> [SlotAllocator.Offer] {
        // The flag is set before the slots are examined, so that a slot that becomes free meanwhile wakes the lane.
        self.isWanted.store(true, ordering: .sequentiallyConsistent)
        let offers = self.offers(.shards)
        let isLimited = offers.isEmpty || offers.contains { !$0.excluded.isEmpty }
        self.isWanted.store(isLimited, ordering: .sequentiallyConsistent)
        return offers
    }

    var areWanted: Bool { self.isWanted.load(ordering: .sequentiallyConsistent) }

    /// Returns the offers of slots in the order of use: equal shares first, then slots that others leave free.
    func offers(_ kind: Kind) -> [SlotAllocator.Offer] {
        let (shared, other) = self.allocators.withLock { allocators in
            (allocators[kind]?.offer(isShared: true), allocators[kind]?.offer(isShared: false))
        }
        return [shared, other == shared ? nil : other].compactMap { $0 }.filter { $0.limit > 0 }
    }

    func hasFree(_ kind: Kind) -> Bool { self.allocators.withLock { $0[kind]?.hasFree ?? false } }

    /// Takes a slot for a service, or returns `nil` if none is free for it, or it has its equal share of the slots.
    func reserve(_ kind: Kind, _ service: DispatchTarget) -> Slot? {
        let ticket = self.allocators.withLock { $0[kind]?.reserve(service) }
        return ticket.map { Slot(kind: kind, ticket: $0, slots: self) }
    }

    func acquire(_ kind: Kind, _ service: DispatchTarget) -> Slot? {
        let ticket = self.allocators.withLock { $0[kind]?.acquire(service) }
        return ticket.map { Slot(kind: kind, ticket: $0, slots: self) }
    }

    /// Moves late pages, which have missed their deadline, out of the regular slots, which frees those slots.
    func tick() {
        let now = self.time.steady
        self.allocators.withLock { allocators in
            for kind in Kind.allCases { _ = allocators[kind]?.tick(now: now) }
        }
    }

    var nextDeadline: Timestamp? { self.allocators.withLock { $0.values.compactMap(\.nextDeadline).min() } }

    struct Slot: Sendable {
        fileprivate let kind: Kind
        fileprivate let ticket: SlotAllocator.Ticket
        fileprivate let slots: LaneSlots

        func pageStarted() {
            let now = self.slots.time.steady
            self.slots.allocators.withLock { $0[self.kind]?.pageStarted(self.ticket, now: now) }
        }

        /// Ends the page in this slot, and returns whether another page may be sent in it. If not, it must be released.
        func pageEnded(_ report: AdaptiveRateLimiter.Report) -> Bool {
            let now = self.slots.time.steady
            return self.slots.allocators.withLock {
                $0[self.kind]?.pageEnded(self.ticket, isAnswered: report.isAnswered, now: now) ?? false
            }
        }

        /// Frees the slot.
        /// - Returns: `true` if work may wait for the slot, so that the lane must be woken, and `false` otherwise.
        @discardableResult
        func release() -> Bool {
            let mayBeOffered = self.slots.allocators.withLock { $0[self.kind]?.release(self.ticket) ?? false }
            return mayBeOffered && self.slots.areWanted
        }
    }
}

extension DispatchLimits {
    fileprivate var bulk: SlotAllocator.Settings {
        .init(slots: self.walkers, perService: self.walkers, late: self.latePages, deadline: self.pageDeadline)
    }

    /// The slots for urgent notifications: at most a quarter for one service, and a reserve for services with few.
    fileprivate var urgent: SlotAllocator.Settings {
        .init(
            slots: self.urgentSlots,
            perService: max(1, self.urgentSlots / 4),
            reserve: max(1, self.urgentSlots / 8),
            reservePerService: max(1, self.urgentSlots / 32),
            late: self.urgentSlots,
            perSilentService: max(1, self.urgentSlots / 32),
            batch: max(1, self.urgentSlots / 32),
            deadline: self.pageDeadline
        )
    }

    /// The slots for retries, the last of which is the reserve.
    fileprivate var retries: SlotAllocator.Settings {
        let slots = max(1, self.retryPages - 1)
        return .init(slots: slots, perService: slots, late: self.latePages, deadline: self.pageDeadline)
    }
}

extension AdaptiveRateLimiter.Report {
    /// A Boolean value that indicates whether the push service responded to at least half of the pushes.
    var isAnswered: Bool { self.unreachable * 2 <= self.total }
}
