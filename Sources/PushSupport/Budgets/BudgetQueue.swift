import NIOCore
import PushTypes

/// The waiting requests of a budget. Apps are served in turn, and within an app its callers.
struct BudgetQueue: Sendable {
    struct Request: Sendable {
        var ticket: BudgetStateMachine.Ticket
        var amount: Int
    }

    struct Turn {
        let caller: BudgetCaller
        let request: Request
    }

    private(set) var count = 0
    private var apps: [Topic?: FairQueue<BudgetCaller, Request>] = [:]
    private var order = CircularBuffer<Topic?>()

    var countByApp: [Topic?: Int] { self.apps.mapValues(\.count) }

    func count(of caller: BudgetCaller) -> Int { self.apps[caller.app]?.count(of: caller) ?? 0 }

    /// Returns the lowest level whose queue is full for a request, or `nil` if it may wait.
    ///
    /// An app without a waiting request may always queue one. A full app has as many slots again for callers without a
    /// waiting request, so that callers that fill its queue leave turns to others. Callers without an app share the
    /// slots of one app, and each may always queue its first request, because an app cannot create many such callers.
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

    /// Removes an abandoned request and returns it, or returns `nil` if the request is not in the queue.
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

    /// Returns the next request, in the order of turns, that may be granted, or `nil` if there is none.
    /// - Parameter fullLevel: Returns the level at which a request has no room, or `nil` if the request can be granted.
    func next(_ fullLevel: (Request, BudgetCaller) -> BudgetLevel?) -> Turn? {
        for app in self.order {
            guard let queue = self.apps[app] else { continue }
            for caller in queue.owners {
                guard let first = queue.first(of: caller) else { continue }
                switch fullLevel(first, caller) {
                case nil: return Turn(caller: caller, request: first)
                // Smaller requests behind this one must not overtake it for ever.
                case .whole: return nil
                case .app, .caller: continue
                }
            }
        }
        return nil
    }

    /// Returns whether the first request of any caller meets a condition.
    func contains(where condition: (Request, BudgetCaller) -> Bool) -> Bool {
        self.apps.values.contains { queue in
            queue.owners.contains { caller in queue.first(of: caller).map { condition($0, caller) } ?? false }
        }
    }

    /// Removes a granted request, and moves its caller and its app to the end of the order of turns.
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
