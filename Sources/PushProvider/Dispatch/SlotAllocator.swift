import PushStore
import PushTypes

/// Decides how many of a lane's slots each service, an app in one environment, may use, so that an unresponsive push
/// service delays no other.
///
/// A service may use all regular slots while no other service wants one. Some slots are a reserve for services with few
/// or no slots. While the reserve is in use, slots are released after each page.
///
/// A page without its responses within ``Settings/deadline`` frees its slot and continues as a *late* page in addition
/// to the regular ones. Its service starts no regular page until one of its pages gets its responses in time.
struct SlotAllocator: Sendable {
    struct Settings: Hashable, Sendable {
        var slots: Int
        /// The maximum number of regular slots of one service.
        var perService: Int
        /// The number of reserve slots, and (`reservePerService`) the number of slots below which a service may use
        /// them.
        var reserve = 1
        var reservePerService = 1
        /// The maximum number of late pages of all services, which run in addition to the regular slots.
        var late = 32
        /// The maximum number of slots of a service that was late and did not respond at all.
        var perSilentService = 1
        /// The minimum number of free slots for an offer to a service that already has slots, so that claims are
        /// batched.
        var batch = 1
        /// The time after which a page that lacks responses is late, so that it frees its slot.
        var deadline: Duration = .seconds(5)
    }

    struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Slot {
        let service: DispatchTarget
        var isLate: Bool
        var pageStartedAt: Timestamp?
    }

    private struct Held {
        var count = 0
        var regular = 0
    }

    private enum Lateness {
        /// The state of a late service that did not respond.
        case silent
        /// The state of a service that responded after the deadline.
        case slow
    }

    private let settings: Settings
    private var slots: [Int: Slot] = [:]
    private var held: [DispatchTarget: Held] = [:]
    private var regular = 0
    private var late: [DispatchTarget: Lateness] = [:]
    private var lastNumber = 0
    /// The services that have used a reserve slot while others may be waiting for one.
    private var servedInReserve: Set<DispatchTarget> = []

    init(_ settings: Settings) { self.settings = settings }

    var isBusy: Bool { !self.slots.isEmpty }
    private var isReserveUsed: Bool { self.regular > self.settings.slots }

    // MARK: Starting

    /// The number of claims that may be started now, and the services for which none may be started.
    struct Offer: Hashable, Sendable {
        var limit: Int
        var excluded: Set<DispatchTarget>
    }

    /// Offers free slots.
    /// - Parameter isShared: `true` to offer each service at most its equal share of the slots, and one reserve slot in
    ///   turn, and `false` to offer all slots that others leave free.
    func offer(isShared: Bool) -> Offer {
        let regular = self.regular
        let inReserve = regular >= self.settings.slots
        var limit = (inReserve ? self.settings.slots + self.settings.reserve : self.settings.slots) - regular
        var excluded: Set<DispatchTarget> = isShared && inReserve ? self.servedInReserve : []
        let most = isShared ? self.share : self.settings.perService
        let lateCount = self.slots.count - regular
        // The limit for a service that has no slot yet.
        limit = min(limit, inReserve ? self.settings.reservePerService : most)
        for service in Set(self.held.keys).union(self.late.keys) {
            let free = self.free(for: service, most: inReserve ? self.settings.reservePerService : most, lateCount)
            if free < self.batch(of: service, inReserve: inReserve) {
                excluded.insert(service)
            } else {
                limit = min(limit, free)
            }
        }
        return Offer(limit: max(0, limit), excluded: excluded)
    }

    /// Returns the number of further slots that a service may use. It is 0 or less if there are none.
    private func free(for service: DispatchTarget, most: Int, _ lateCount: Int) -> Int {
        let count = self.held[service]?.count ?? 0
        return switch self.late[service] {
        case .silent: min(self.settings.perSilentService - count, self.settings.late - lateCount)
        case .slow: min(self.settings.perService - count, self.settings.late - lateCount)
        case nil: most - count
        }
    }

    /// Returns the minimum number of free slots for an offer to a service.
    private func batch(of service: DispatchTarget, inReserve: Bool) -> Int {
        self.held[service] == nil || self.late[service] != nil || inReserve ? 1 : max(1, self.settings.batch)
    }

    var hasFree: Bool { self.regular < self.settings.slots + self.settings.reserve }

    /// Takes a slot for a service, or returns `nil` if none is free for it, or it has its equal share of the slots.
    mutating func reserve(_ service: DispatchTarget) -> Ticket? {
        let inReserve = self.regular >= self.settings.slots
        guard self.hasFree, !inReserve || !self.servedInReserve.contains(service) else { return nil }
        let most = inReserve ? self.settings.reservePerService : self.share
        guard self.free(for: service, most: most, self.slots.count - self.regular) > 0 else { return nil }
        return self.acquire(service)
    }

    /// The number of regular slots in the equal share of a service, rounded up.
    private var share: Int {
        let services = max(1, self.held.values.count { $0.regular > 0 })
        return min(self.settings.perService, (self.settings.slots + services - 1) / services)
    }

    mutating func acquire(_ service: DispatchTarget) -> Ticket {
        self.lastNumber += 1
        let isInReserve = self.regular >= self.settings.slots
        // If a service takes a second slot of the reserve, no other service waits.
        if !isInReserve || self.servedInReserve.contains(service) { self.servedInReserve = [] }
        if isInReserve { self.servedInReserve.insert(service) }
        let isLate = self.late[service] != nil
        self.slots[self.lastNumber] = Slot(service: service, isLate: isLate)
        self.count(service, 1, regular: isLate ? 0 : 1)
        return Ticket(number: self.lastNumber)
    }

    // MARK: Pages

    mutating func pageStarted(_ ticket: Ticket, now: Timestamp) { self.slots[ticket.number]?.pageStartedAt = now }

    /// Records the end of a page.
    /// - Parameter isAnswered: `true` if the push service responded to at least half of the pushes.
    /// - Returns: `true` if another page may be sent in this slot, and `false` if the slot has to be released.
    mutating func pageEnded(_ ticket: Ticket, isAnswered: Bool, now: Timestamp) -> Bool {
        guard let slot = self.slots[ticket.number], let startedAt = slot.pageStartedAt else { return false }
        self.slots[ticket.number]?.pageStartedAt = nil
        let isInTime = now < startedAt.advanced(by: self.settings.deadline)
        if isInTime, isAnswered {
            self.late[slot.service] = nil
        } else if !isInTime {
            self.late[slot.service] = isAnswered ? .slow : .silent
        }
        // While the reserve is in use, services alternate, because it may be the only slot whose pages get responses.
        return isInTime && !slot.isLate && !self.isReserveUsed
    }

    /// Frees a slot.
    /// - Returns: `true` if the next offer may be larger than the last one, and `false` otherwise.
    @discardableResult
    mutating func release(_ ticket: Ticket) -> Bool {
        guard let slot = self.slots.removeValue(forKey: ticket.number) else { return false }
        let wasFull = self.regular >= self.settings.slots
        self.count(slot.service, -1, regular: slot.isLate ? 0 : -1)
        let free = self.free(for: slot.service, most: self.share, self.slots.count - self.regular)
        return wasFull || free >= self.batch(of: slot.service, inReserve: false)
    }

    /// Adds to the numbers of slots that a service uses. Negative numbers stand for freed slots.
    private mutating func count(_ service: DispatchTarget, _ count: Int, regular: Int) {
        var held = self.held[service] ?? Held()
        held.count += count
        held.regular += regular
        self.regular += regular
        self.held[service] = held.count > 0 ? held : nil
    }

    // MARK: Time

    mutating func tick(now: Timestamp) -> Bool {
        var isChanged = false
        for (number, slot) in self.slots where !slot.isLate {
            guard let startedAt = slot.pageStartedAt, now >= startedAt.advanced(by: self.settings.deadline)
            else { continue }
            self.slots[number]?.isLate = true
            self.count(slot.service, 0, regular: -1)
            if self.late[slot.service] == nil { self.late[slot.service] = .silent }
            isChanged = true
        }
        return isChanged
    }

    /// The earliest time at which a page in flight becomes late, or `nil` if no page can become late.
    var nextDeadline: Timestamp? {
        self.slots.values.compactMap { $0.isLate ? nil : $0.pageStartedAt?.advanced(by: self.settings.deadline) }.min()
    }
}
