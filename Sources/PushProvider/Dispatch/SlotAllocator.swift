import PushStore
import PushTypes

/// Decides which services may have how many of a lane's places, so that none is kept from sending by another whose push
/// service does not answer.
///
/// A service may have all regular places while no other wants one. Some places are in reserve for services with few or
/// none; while the reserve is in use, places are given back at the next page boundary. A page that has no answers within
/// ``Settings/deadline`` leaves its place to others and continues beside the regular ones as a *late* page. Its service
/// begins no regular page again before one of its pages was answered in time.
struct SlotAllocator: Sendable {
    struct Settings: Hashable, Sendable {
        /// Regular places.
        var places: Int
        /// Regular places of one service while others wait for none.
        var perService: Int
        /// Further places, for services that have fewer than ``reservePerService``.
        var reserve = 1
        var reservePerService = 1
        /// Places beside the regular ones, for all services that are late.
        var late = 32
        /// Places of a service that was late and did not answer at all.
        var perSilentService = 1
        /// A page without its answers after this time is late.
        var deadline: Duration = .seconds(5)
    }

    /// One place that is in use.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Place {
        let service: DispatchTarget
        var isLate: Bool
        var pageBegan: Timestamp?
    }

    /// The state of a service that was late.
    private enum Lateness {
        /// Not at all.
        case silent
        /// In its own time.
        case slow
    }

    private let settings: Settings
    private var places: [Int: Place] = [:]
    private var late: [DispatchTarget: Lateness] = [:]
    private var lastNumber = 0
    /// The services that have had their turn in the reserve, while others may wait for theirs.
    private var hadTurn: Set<DispatchTarget> = []

    init(_ settings: Settings) {
        self.settings = settings
    }

    var isBusy: Bool { !self.places.isEmpty }
    private var regular: Int { self.places.values.count { !$0.isLate } }
    private var isReserveUsed: Bool { self.regular > self.settings.places }

    // MARK: Starting

    /// The claims that may be started now.
    struct Offer: Hashable, Sendable {
        /// Claims at most; 0 or more.
        var limit: Int
        /// The services that get none.
        var excluded: Set<DispatchTarget>
    }

    /// Offers what is free.
    /// - Parameter isShared: whether a service gets no more than its equal share of the places, and in the reserve one turn
    ///   before the others have had theirs; without it, what others leave free.
    func offer(isShared: Bool) -> Offer {
        let regular = self.regular
        let inReserve = regular >= self.settings.places
        var limit = (inReserve ? self.settings.places + self.settings.reserve : self.settings.places) - regular
        var excluded: Set<DispatchTarget> = isShared && inReserve ? self.hadTurn : []
        let held = self.held
        let most = isShared ? self.share : self.settings.perService
        let lateCount = self.places.count - regular
        // Of a service that has none yet too.
        limit = min(limit, inReserve ? self.settings.reservePerService : most)
        for service in Set(held.keys).union(self.late.keys) {
            let count = held[service] ?? 0
            let free =
                switch self.late[service] {
                case .silent: min(self.settings.perSilentService - count, self.settings.late - lateCount)
                case .slow: min(self.settings.perService - count, self.settings.late - lateCount)
                case nil: (inReserve ? self.settings.reservePerService : most) - count
                }
            if free <= 0 { excluded.insert(service) } else { limit = min(limit, free) }
        }
        return Offer(limit: max(0, limit), excluded: excluded)
    }

    /// The places of each service, late ones too.
    private var held: [DispatchTarget: Int] {
        self.places.values.reduce(into: [:]) { $0[$1.service, default: 0] += 1 }
    }

    /// Rounded up.
    private var share: Int {
        let services = max(1, Set(self.places.values.filter { !$0.isLate }.map(\.service)).count)
        return min(self.settings.perService, (self.settings.places + services - 1) / services)
    }

    mutating func start(_ service: DispatchTarget) -> Ticket {
        self.lastNumber += 1
        let isInReserve = self.regular >= self.settings.places
        // A second turn means that no other service waits.
        if !isInReserve || self.hadTurn.contains(service) { self.hadTurn = [] }
        if isInReserve { self.hadTurn.insert(service) }
        self.places[self.lastNumber] = Place(service: service, isLate: self.late[service] != nil)
        return Ticket(number: self.lastNumber)
    }

    // MARK: Pages

    mutating func pageBegins(_ ticket: Ticket, now: Timestamp) {
        self.places[ticket.number]?.pageBegan = now
    }

    /// Notes the end of a page.
    /// - Parameter isAnswered: whether the push service answered for the most part.
    /// - Returns: whether another page may be sent in this place; otherwise it is to be given back.
    mutating func pageEnds(_ ticket: Ticket, isAnswered: Bool, now: Timestamp) -> Bool {
        guard let place = self.places[ticket.number], let began = place.pageBegan else { return false }
        self.places[ticket.number]?.pageBegan = nil
        let isInTime = now < began.advanced(by: self.settings.deadline)
        if isInTime, isAnswered {
            self.late[place.service] = nil
        } else if !isInTime {
            self.late[place.service] = isAnswered ? .slow : .silent
        }
        // Services take turns while the reserve is in use, as it may be the only place whose pages are answered.
        return isInTime && !place.isLate && !self.isReserveUsed
    }

    mutating func end(_ ticket: Ticket) {
        self.places[ticket.number] = nil
    }

    // MARK: Time

    /// Moves late pages out of the regular places.
    /// - Returns: whether there were any.
    mutating func tick(now: Timestamp) -> Bool {
        var isChanged = false
        for (number, place) in self.places where !place.isLate {
            guard let began = place.pageBegan, now >= began.advanced(by: self.settings.deadline) else { continue }
            self.places[number]?.isLate = true
            if self.late[place.service] == nil { self.late[place.service] = .silent }
            isChanged = true
        }
        return isChanged
    }

    /// Returns the time at which a page in flight will be late; `nil` if none can be.
    var nextDeadline: Timestamp? {
        self.places.values.compactMap { $0.isLate ? nil : $0.pageBegan?.advanced(by: self.settings.deadline) }.min()
    }
}
