import NIOCore
import PushTypes

/// The requests of a budget that wait: those of apps in turn, and within an app those of its callers in turn.
struct BudgetQueue: Sendable {
    struct Request: Sendable {
        var ticket: BudgetStateMachine.Ticket
        var amount: Int
    }

    /// The first request of a caller, which is next.
    struct Turn {
        let caller: BudgetCaller
        let request: Request
    }

    /// The number of requests.
    private(set) var count = 0
    private var apps: [Topic?: FairQueue<BudgetCaller, Request>] = [:]
    /// The apps with requests; the first one is next.
    private var order = CircularBuffer<Topic?>()

    var countByApp: [Topic?: Int] { self.apps.mapValues(\.count) }

    func count(of caller: BudgetCaller) -> Int { self.apps[caller.app]?.count(of: caller) ?? 0 }

    /// Returns the lowest level that has no place for a request; `nil` if all have.
    ///
    /// An app that has nothing waiting finds a place, however many others wait. An app has as many places again for callers that
    /// have nothing waiting, so that those who fill its queue leave turns to others. Callers without an app have the places of
    /// one, and each finds the first of its own, as no app can make many of them.
    func fullLevel(_ most: BudgetLimits.Levels<Int>, for caller: BudgetCaller) -> BudgetLevel? {
        let (app, own) = (self.apps[caller.app]?.count ?? 0, self.count(of: caller))
        if let most = most.caller, own >= most { return .caller }
        if let most = most.app, app >= most {
            if caller.app == nil, own > 0 { return .whole }
            if caller.app != nil, own > 0 || app >= 2 * most { return .app }
        }
        if let most = most.whole, self.count >= most, app > 0 { return .whole }
        return nil
    }

    mutating func append(_ request: Request, of caller: BudgetCaller) {
        self.count += 1
        if self.apps[caller.app] == nil { self.order.append(caller.app) }
        self.apps[caller.app, default: FairQueue()].append(request, of: caller)
    }

    /// Removes a request that gives up.
    /// - Returns: `nil` if it does not wait.
    mutating func remove(_ ticket: BudgetStateMachine.Ticket, of caller: BudgetCaller) -> Request? {
        guard let request = self.apps[caller.app]?.removeFirst(of: caller, where: { $0.ticket == ticket })
        else { return nil }
        self.count -= 1
        if self.apps[caller.app]?.isEmpty == true {
            self.apps[caller.app] = nil
            self.removeTurn(of: caller.app)
        }
        return request
    }

    /// Returns the next request that may be granted: of the next app that may have something the next caller that may.
    /// - Parameter fullLevel: Returns the level that has no room for a request.
    func next(_ fullLevel: (Request, BudgetCaller) -> BudgetLevel?) -> Turn? {
        for app in self.order {
            guard let queue = self.apps[app] else { continue }
            for caller in queue.owners {
                guard let first = queue.first(of: caller) else { continue }
                switch fullLevel(first, caller) {
                case nil: return Turn(caller: caller, request: first)
                // A smaller request behind it must not overtake it for ever.
                case .whole: return nil
                case .app, .caller: continue
                }
            }
        }
        return nil
    }

    /// Returns `true` if the first request of some caller meets a condition.
    func contains(where condition: (Request, BudgetCaller) -> Bool) -> Bool {
        self.apps.values.contains { queue in
            queue.owners.contains { caller in queue.first(of: caller).map { condition($0, caller) } ?? false }
        }
    }

    /// Removes the request whose turn it is. Its caller has had its turn, and the app too.
    mutating func take(_ turn: Turn) {
        let app = turn.caller.app
        self.count -= 1
        self.removeTurn(of: app)
        self.apps[app]?.popFirst(of: turn.caller)
        if self.apps[app]?.isEmpty == true { self.apps[app] = nil } else { self.order.append(app) }
    }

    private mutating func removeTurn(of app: Topic?) {
        if let index = self.order.firstIndex(of: app) { self.order.remove(at: index) }
    }
}
