import PushStore
import PushSupport
import PushTypes
import Synchronization

/// The places of one lane: for what was accepted, and for retries.
final class LaneSlots: Sendable {
    /// The use of a place.
    enum Kind: CaseIterable, Sendable {
        case shards
        case retries
    }

    private let machines: Mutex<[Kind: SlotAllocator]>
    private let time: any TimeSource

    init(_ lane: NotificationRecord.Lane, limits: DispatchLimits, time: any TimeSource) {
        self.time = time
        self.machines = Mutex([
            .shards: SlotAllocator(lane == .urgent ? limits.urgent : limits.bulk),
            .retries: SlotAllocator(limits.retries),
        ])
    }

    var isBusy: Bool { self.machines.withLock { $0.values.contains { $0.isBusy } } }

    /// Returns the claims that may be started, to be tried one after the other: equal shares first, then what others leave free.
    func offers(_ kind: Kind) -> [SlotAllocator.Offer] {
        let (shared, other) = self.machines.withLock { machines in
            (machines[kind]?.offer(isShared: true), machines[kind]?.offer(isShared: false))
        }
        return [shared, other == shared ? nil : other].compactMap { $0 }.filter { $0.limit > 0 }
    }

    func start(_ kind: Kind, _ service: DispatchTarget) -> Place? {
        let ticket = self.machines.withLock { $0[kind]?.start(service) }
        return ticket.map { Place(kind: kind, ticket: $0, places: self) }
    }

    /// Frees the places of pages that are late.
    func tick() {
        let now = self.time.steady
        self.machines.withLock { machines in
            for kind in Kind.allCases { _ = machines[kind]?.tick(now: now) }
        }
    }

    var nextDeadline: Timestamp? {
        self.machines.withLock { $0.values.compactMap(\.nextDeadline).min() }
    }

    /// A place that is in use.
    struct Place: Sendable {
        fileprivate let kind: Kind
        fileprivate let ticket: SlotAllocator.Ticket
        fileprivate let places: LaneSlots

        func pageBegins() {
            let now = self.places.time.steady
            self.places.machines.withLock { $0[self.kind]?.pageBegins(self.ticket, now: now) }
        }

        /// - Returns: whether another page may be sent in this place.
        func pageEnds(_ report: AdaptiveRateLimiter.Report) -> Bool {
            let now = self.places.time.steady
            return self.places.machines.withLock {
                $0[self.kind]?.pageEnds(self.ticket, isAnswered: report.isAnswered, now: now) ?? false
            }
        }

        func end() {
            self.places.machines.withLock { $0[self.kind]?.end(self.ticket) }
        }
    }
}

extension DispatchLimits {
    fileprivate var bulk: SlotAllocator.Settings {
        .init(places: self.walkers, perService: self.walkers, late: self.latePages, deadline: self.pageDeadline)
    }

    /// A quarter for one service; in reserve for services with little under way.
    fileprivate var urgent: SlotAllocator.Settings {
        .init(
            places: self.urgentPlaces,
            perService: max(1, self.urgentPlaces / 4),
            reserve: max(1, self.urgentPlaces / 8),
            reservePerService: max(1, self.urgentPlaces / 32),
            late: self.urgentPlaces,
            perSilentService: max(1, self.urgentPlaces / 32),
            deadline: self.pageDeadline
        )
    }

    /// The last one is in reserve.
    fileprivate var retries: SlotAllocator.Settings {
        let places = max(1, self.retryPages - 1)
        return .init(places: places, perService: places, late: self.latePages, deadline: self.pageDeadline)
    }
}

extension AdaptiveRateLimiter.Report {
    /// Whether the push service answered at least half of what it was sent.
    var isAnswered: Bool { self.unreachable * 2 <= self.total }
}
