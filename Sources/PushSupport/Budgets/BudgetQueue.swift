import NIOCore
import PushTypes

/// The requests of a budget that wait: those of apps in turn, and within an app those of its callers in turn.
struct BudgetQueue: Sendable {
    struct Request: Sendable {
        var ticket: BudgetStateMachine.Ticket
        var amount: Int
    }

    /// The place of a caller whose first request is next.
    struct Turn {
        let caller: BudgetCaller
        let request: Request
        fileprivate let app: CircularBuffer<Topic?>.Index
        fileprivate let place: CircularBuffer<BudgetCaller>.Index
    }

    private struct AppQueue {
        var count = 0
        var callers: [BudgetCaller: CircularBuffer<Request>] = [:]
        /// The callers with requests; the first one is next.
        var order = CircularBuffer<BudgetCaller>()
    }

    /// The number of requests.
    private(set) var count = 0
    private var apps: [Topic?: AppQueue] = [:]
    /// The apps with requests; the first one is next.
    private var order = CircularBuffer<Topic?>()

    var countByApp: [Topic?: Int] { self.apps.mapValues(\.count) }

    func count(of caller: BudgetCaller) -> Int { self.apps[caller.app]?.callers[caller]?.count ?? 0 }

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
        // In place: thousands may wait already.
        self.apps[caller.app, default: AppQueue()].count += 1
        if self.apps[caller.app]?.callers[caller] == nil { self.apps[caller.app]?.order.append(caller) }
        self.apps[caller.app]?.callers[caller, default: CircularBuffer()].append(request)
    }

    /// Removes a request that gives up.
    /// - Returns: `nil` if it does not wait.
    mutating func remove(_ ticket: BudgetStateMachine.Ticket, of caller: BudgetCaller) -> Request? {
        // In place: a queue that is bound to a name would be copied.
        guard let index = self.apps[caller.app]?.callers[caller]?.firstIndex(where: { $0.ticket == ticket }),
            let request = self.apps[caller.app]?.callers[caller]?.remove(at: index)
        else { return nil }
        self.count -= 1
        self.apps[caller.app]?.count -= 1
        if self.apps[caller.app]?.callers[caller]?.isEmpty == true {
            self.apps[caller.app]?.callers[caller] = nil
            self.apps[caller.app]?.order.removeAll { $0 == caller }
        }
        if self.apps[caller.app]?.count == 0 {
            self.apps[caller.app] = nil
            self.order.removeAll { $0 == caller.app }
        }
        return request
    }

    /// Returns the next request that may be granted: of the next app that may have something the next caller that may.
    /// - Parameter fullLevel: Returns the level that has no room for a request.
    func next(_ fullLevel: (Request, BudgetCaller) -> BudgetLevel?) -> Turn? {
        for index in self.order.indices {
            guard let app = self.apps[self.order[index]] else { continue }
            for place in app.order.indices {
                let caller = app.order[place]
                guard let first = app.callers[caller]?.first else { continue }
                switch fullLevel(first, caller) {
                case nil: return Turn(caller: caller, request: first, app: index, place: place)
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
        self.apps.values.contains { app in
            app.callers.contains { caller, queue in queue.first.map { condition($0, caller) } ?? false }
        }
    }

    /// Removes the request whose turn it is. Its caller has had its turn, and the app too.
    mutating func take(_ turn: Turn) {
        let (caller, app) = (turn.caller, turn.caller.app)
        self.count -= 1
        self.apps[app]?.count -= 1
        self.apps[app]?.order.remove(at: turn.place)
        self.order.remove(at: turn.app)
        _ = self.apps[app]?.callers[caller]?.popFirst()
        if self.apps[app]?.callers[caller]?.isEmpty == true {
            self.apps[app]?.callers[caller] = nil
        } else {
            self.apps[app]?.order.append(caller)
        }
        if self.apps[app]?.count == 0 { self.apps[app] = nil } else { self.order.append(app) }
    }
}
