import PushSupport
import PushTypes
import Testing

/// Who finds a place in the queue of a budget, and whose turn it is.
@Suite struct BudgetQueueTests {
    private let now = ContinuousClock.now

    private func app(_ number: Int) -> BudgetCaller { BudgetCaller(app: Topic("com.example.app\(number)")) }

    private func machine(_ waiting: BudgetLimits.Levels<Int>, caller: BudgetBound? = nil) -> BudgetStateMachine {
        BudgetStateMachine(limits: BudgetLimits(.init(whole: .held(1), caller: caller), waiting: waiting))
    }

    /// Asks until the first refusal.
    /// - Returns: The number of requests that wait.
    private func fill(_ machine: inout BudgetStateMachine, _ caller: BudgetCaller, _ ticket: inout UInt64) -> Int {
        var queued = 0
        while true {
            ticket += 1
            guard machine.request(1, for: caller, ticket: ticket, now: self.now) == .queued else { return queued }
            queued += 1
        }
    }

    /// The bounds of `counts`: four apps fill it, and a fifth has its turn after one of each.
    @Test(arguments: 4...8) func greedyAppsLeaveAPlaceToTheNext(_ greedy: Int) {
        var machine = self.machine(.init(whole: 64, app: 16))
        var ticket: UInt64 = 0
        #expect(machine.request(1, for: self.app(0), now: self.now) == .granted)
        for number in 0..<greedy { _ = self.fill(&machine, self.app(number), &ticket) }
        #expect(machine.usage.waiting >= 64)
        let other = self.app(99)
        #expect(machine.request(1, for: other, ticket: 1000, now: self.now) == .queued)
        // It has one place, as the queue is full.
        #expect(machine.request(1, for: other, ticket: 1001, now: self.now) == .refused(.whole, delay: nil))
        var (holder, turns) = (self.app(0), 0)
        while machine.usage(of: other).held == 0, turns <= greedy {
            #expect(machine.release(1, of: holder).count == 1)
            holder = (0..<greedy).map { self.app($0) }.first { machine.usage(of: $0).held == 1 } ?? other
            turns += 1
        }
        #expect(machine.usage(of: other) == (1, 0))
    }

    /// The bounds of `entitlementQuestions`: clients that fill the queue of an app leave a place to the next one, and a turn.
    @Test func greedyCallersOfAnAppLeaveAPlaceToTheNext() {
        var machine = BudgetStateMachine(
            limits: BudgetLimits(.init(app: .held(32), caller: .held(4)), waiting: .init(app: 256, caller: 16))
        )
        let clients = (0..<16).map { BudgetCaller(app: Topic("com.example.news"), .name("\($0)")) }
        var ticket: UInt64 = 0
        for client in clients[..<8] {
            for _ in 0..<4 { _ = machine.request(1, for: client, now: self.now) }
        }
        #expect(clients.map { self.fill(&machine, $0, &ticket) } == Array(repeating: 16, count: 16))
        #expect(machine.usage == (32, 256))
        let other = BudgetCaller(app: Topic("com.example.news"), .name("other"))
        #expect(machine.request(1, for: other, ticket: 1000, now: self.now) == .queued)
        let second = machine.request(1, for: other, ticket: 1001, now: self.now)
        #expect(second == .refused(.app, delay: nil), "it has one place, as the queue is full")
        // Each of the others has a turn at most before it has one.
        var turns = 0
        while machine.usage(of: other).held == 0, turns <= clients.count {
            if let holder = clients[..<8].last(where: { machine.usage(of: $0).held > 0 }) {
                _ = machine.release(1, of: holder)
            }
            turns += 1
        }
        #expect(machine.usage(of: other) == (1, 0), "after \(turns) turns")
    }

    /// However many callers an app makes, what waits is bounded.
    @Test func theFirstPlacesOfAnAppAreBounded() {
        var machine = self.machine(.init(app: 12, caller: 4))
        var ticket: UInt64 = 0
        let keys = (0..<100).map { BudgetCaller(app: Topic("com.example.news"), .name("\($0)")) }
        _ = machine.request(1, for: keys[0], now: self.now)
        let queued = keys.map { self.fill(&machine, $0, &ticket) }
        #expect(queued == [4, 4, 4] + Array(repeating: 1, count: 12) + Array(repeating: 0, count: 85))
        #expect(machine.usage.waiting == 24)
    }

    /// The bounds of `queries`: keys of several apps have the places of one app together, and each of them finds one.
    @Test func callersWithoutAnAppHaveThePlacesOfOne() {
        var machine = self.machine(.init(whole: 32, app: 12, caller: 4))
        var ticket: UInt64 = 0
        #expect(machine.request(1, for: self.app(0), now: self.now) == .granted)
        let keys = (0..<8).map { BudgetCaller(.name("\($0)")) }
        #expect(keys.map { self.fill(&machine, $0, &ticket) } == [4, 4, 4, 1, 1, 1, 1, 1])
        #expect(machine.usage.waiting == 17)
        let second = machine.request(1, for: keys[7], ticket: 1000, now: self.now)
        #expect(second == .refused(.whole, delay: nil))
        #expect(self.fill(&machine, self.app(1), &ticket) == 4, "an app finds the places of one caller")
        // However many there are, they do not grow the queue beyond its bound, and an app finds a place still.
        for number in 8..<100 { _ = self.fill(&machine, BudgetCaller(.name("\(number)")), &ticket) }
        #expect(machine.usage.waiting == 32)
        #expect(self.fill(&machine, self.app(2), &ticket) == 1)
    }

    /// Networks of strangers have the places that there are, and no more.
    @Test func aQueueOfCallersWithoutAnAppIsBounded() {
        var machine = self.machine(.init(whole: 14, caller: 2))
        var ticket: UInt64 = 0
        _ = machine.request(1, for: BudgetCaller(.network([0])), now: self.now)
        for number in 1...20 { _ = self.fill(&machine, BudgetCaller(.network([UInt8(number)])), &ticket) }
        #expect(machine.usage.waiting == 14)
    }

    /// What has begun is not a newcomer: a full queue of its own app does not end it.
    @Test func whatGivesItsTurnBackNeedsNoPlace() {
        var machine = self.machine(.init(whole: 64, app: 16))
        let (own, other) = (self.app(0), self.app(1))
        var ticket: UInt64 = 0
        #expect(machine.request(1, for: own, now: self.now) == .granted)
        #expect(self.fill(&machine, own, &ticket) == 16)
        #expect(machine.request(1, for: other, ticket: 100, now: self.now) == .queued)
        #expect(machine.release(1, of: own) == [1], "the app's first one, which came before the other app")
        #expect(machine.request(1, for: own, ticket: 101, now: self.now) == .queued)
        #expect(machine.usage(of: own) == (1, 16))
        // That one gives its turn back: the other app is next, and it waits behind those of its own.
        #expect(machine.release(1, of: own) == [100])
        let isGranted = machine.retake(1, for: own, ticket: 102)
        #expect(!isGranted)
        #expect(machine.usage(of: own) == (0, 17))
        #expect(machine.request(1, for: own, ticket: 103, now: self.now) == .refused(.app, delay: nil))
        var (granted, holder) = ([UInt64](), other)
        while machine.usage.waiting > 0 {
            granted += machine.release(1, of: holder)
            holder = own
        }
        #expect(granted == Array(2...16) + [101, 102])
    }

    @Test func whatGivesItsTurnBackToNobodyHasItAgain() {
        var machine = self.machine(.init(whole: 2))
        #expect(machine.request(1, for: self.app(0), now: self.now) == .granted)
        #expect(machine.release(1, of: self.app(0)).isEmpty)
        let isGranted = machine.retake(1, for: self.app(0), ticket: 1)
        #expect(isGranted && machine.usage == (1, 0))
    }

    @Test func whoGivesUpLearnsTheLevelThatHadNoRoom() {
        var machine = BudgetStateMachine(
            limits: BudgetLimits(.init(app: .held(2), caller: .held(1)), waiting: .init())
        )
        let keys = ["a", "b", "c"].map { BudgetCaller(app: Topic("com.example.news"), .name($0)) }
        for key in keys.prefix(2) { #expect(machine.request(1, for: key, now: self.now) == .granted) }
        #expect(machine.request(1, for: keys[0], ticket: 1, now: self.now) == .queued)
        #expect(machine.request(1, for: keys[2], ticket: 2, now: self.now) == .queued)
        let abandoned = [machine.abandon(1, of: keys[0]), machine.abandon(2, of: keys[2])]
        #expect(abandoned.map { $0?.full } == [.caller, .app])
        let again = machine.abandon(2, of: keys[2])
        #expect(again == nil)
        #expect(machine.usage == (2, 0))
    }

    @Test func whatEndsLeavesNobodyWaiting() {
        var machine = self.machine(.init())
        let (own, other) = (self.app(0), self.app(1))
        _ = machine.request(1, for: own, now: self.now)
        for ticket in 1...3 as ClosedRange<UInt64> { _ = machine.request(1, for: other, ticket: ticket, now: self.now) }
        machine.abandonAll()
        #expect(machine.usage == (1, 0) && machine.usageByApp.count == 1)
        #expect(machine.release(1, of: own).isEmpty)
        #expect(machine.usageByApp.isEmpty)
    }
}
