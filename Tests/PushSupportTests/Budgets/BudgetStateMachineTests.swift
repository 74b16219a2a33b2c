import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite struct BudgetStateMachineTests {
    private let start = ContinuousClock.now
    private let weather = Topic("com.example.weather")
    private let news = Topic("com.example.news")

    private func caller(_ app: Topic?, _ name: String = "a") -> BudgetCaller { BudgetCaller(app: app, .name(name)) }

    private func machine(
        whole: BudgetBound? = nil,
        app: BudgetBound? = nil,
        caller: BudgetBound? = nil,
        waiting: BudgetLimits.Levels<Int>? = nil
    ) -> BudgetStateMachine {
        BudgetStateMachine(limits: BudgetLimits(.init(whole: whole, app: app, caller: caller), waiting: waiting))
    }

    @Test func eachLevelRefusesWithItsOwnName() {
        var machine = self.machine(whole: .held(4), app: .held(3), caller: .held(2))
        #expect(machine.request(2, for: self.caller(self.weather), now: self.start) == .granted)
        #expect(machine.request(1, for: self.caller(self.weather), now: self.start) == .refused(.caller, delay: nil))
        #expect(machine.request(1, for: self.caller(self.weather, "b"), now: self.start) == .granted)
        #expect(machine.request(1, for: self.caller(self.weather, "b"), now: self.start) == .refused(.app, delay: nil))
        #expect(machine.request(1, for: self.caller(self.news), now: self.start) == .granted)
        #expect(machine.request(1, for: self.caller(self.news), now: self.start) == .refused(.whole, delay: nil))
        #expect(machine.release(2, of: self.caller(self.weather)).isEmpty)
        #expect(machine.request(1, for: self.caller(self.news), now: self.start) == .granted)
        #expect(machine.usage.held == 3)
    }

    /// However many apps take all that they get, the next one finds something.
    @Test(arguments: 1...8) func greedyAppsLeaveSomethingForTheNext(_ greedy: Int) {
        var machine = self.machine(whole: .held(100), app: .timesFree(2))
        for round in 0..<200 {
            let app = Topic("com.example.greedy\(round % greedy)")
            _ = machine.request(1, for: self.caller(app, "\(round)"), now: self.start)
        }
        #expect(machine.request(1, for: self.caller(self.weather), now: self.start) == .granted)
        #expect(machine.usage.held > 60)
    }

    @Test func appsTakeTurnsBeforeTheirCallers() {
        var machine = self.machine(whole: .held(1), waiting: .init(whole: 10))
        #expect(machine.request(1, for: self.caller(self.weather), ticket: 0, now: self.start) == .granted)
        for ticket in 1...3 {
            let caller = self.caller(self.weather, "\(ticket)")
            #expect(machine.request(1, for: caller, ticket: UInt64(ticket), now: self.start) == .queued)
        }
        #expect(machine.request(1, for: self.caller(self.news), ticket: 9, now: self.start) == .queued)
        #expect(machine.release(1, of: self.caller(self.weather)) == [1])
        #expect(machine.release(1, of: self.caller(self.weather, "1")) == [9])
        #expect(machine.release(1, of: self.caller(self.news)) == [2])
        #expect(machine.release(1, of: self.caller(self.weather, "2")) == [3])
        #expect(machine.release(1, of: self.caller(self.weather, "3")).isEmpty)
        #expect(machine.usage == (0, 0))
        #expect(machine.usageByApp.isEmpty)
    }

    @Test func callersOfAnAppTakeTurns() {
        var machine = self.machine(whole: .held(1), waiting: .init(whole: 10))
        _ = machine.request(1, for: self.caller(self.weather), ticket: 0, now: self.start)
        for ticket in 1...2 {
            _ = machine.request(1, for: self.caller(self.weather, "a"), ticket: UInt64(ticket), now: self.start)
        }
        _ = machine.request(1, for: self.caller(self.weather, "b"), ticket: 3, now: self.start)
        #expect(machine.release(1, of: self.caller(self.weather)) == [1])
        #expect(machine.release(1, of: self.caller(self.weather, "a")) == [3])
        #expect(machine.release(1, of: self.caller(self.weather, "b")) == [2])
    }

    @Test func theQueueHasThreeLevelsToo() {
        var machine = self.machine(whole: .held(1), waiting: .init(whole: 4, app: 3, caller: 2))
        _ = machine.request(1, for: self.caller(self.weather), ticket: 0, now: self.start)
        for ticket in 1...2 as ClosedRange<UInt64> {
            #expect(machine.request(1, for: self.caller(self.weather, "b"), ticket: ticket, now: self.start) == .queued)
        }
        let second = machine.request(1, for: self.caller(self.weather, "b"), ticket: 8, now: self.start)
        #expect(second == .refused(.caller, delay: nil))
        #expect(machine.request(1, for: self.caller(self.weather, "c"), ticket: 3, now: self.start) == .queued)
        let third = machine.request(1, for: self.caller(self.weather, "c"), ticket: 4, now: self.start)
        #expect(third == .refused(.app, delay: nil))
        #expect(machine.request(1, for: self.caller(self.news), ticket: 5, now: self.start) == .queued)
        let fourth = machine.request(1, for: self.caller(self.news, "b"), ticket: 6, now: self.start)
        #expect(fourth == .refused(.whole, delay: nil))
        let abandoned = machine.abandon(5, of: self.caller(self.news))
        #expect(abandoned?.granted == [])
        let again = machine.abandon(5, of: self.caller(self.news))
        #expect(again == nil)
        #expect(machine.request(1, for: self.caller(nil), ticket: 7, now: self.start) == .queued)
    }

    @Test func aRateComesBackWithTimeAndTakesAllLevelsOrNone() {
        var machine = self.machine(app: .rate(perSecond: 1, burst: 3), caller: .rate(perSecond: 1, burst: 2))
        for _ in 1...2 { #expect(machine.request(1, for: self.caller(self.weather), now: self.start) == .granted) }
        let third = machine.request(1, for: self.caller(self.weather), now: self.start)
        #expect(third == .refused(.caller, delay: .seconds(1)))
        // The refused request took nothing of the app's rate.
        #expect(machine.request(1, for: self.caller(self.weather, "b"), now: self.start) == .granted)
        let other = machine.request(1, for: self.caller(self.weather, "c"), now: self.start)
        #expect(other == .refused(.app, delay: .seconds(1)))
        let later = self.start + .seconds(1)
        #expect(machine.request(1, for: self.caller(self.weather), now: later) == .granted)
        #expect(machine.usage.held == 0)
    }

    @Test func aCallerMayHaveARateOfItsOwn() {
        var machine = self.machine(caller: .rate(perSecond: 1, burst: 1))
        let fast = BudgetCaller(.name("fast"), rate: 5)
        for _ in 1...10 { #expect(machine.request(1, for: fast, now: self.start) == .granted) }
        #expect(machine.request(1, for: fast, now: self.start) == .refused(.caller, delay: .milliseconds(200)))
        let unlimited = BudgetCaller(.name("unlimited"), rate: 0)
        for _ in 1...100 { #expect(machine.request(1, for: unlimited, now: self.start) == .granted) }
    }

    /// One large amount gets no more of what is free than many small ones.
    @Test func aLargeFirstAmountLeavesSomethingForTheNext() {
        var machine = self.machine(whole: .held(100), app: .timesFree(2))
        var small = machine
        #expect(machine.request(68, for: self.caller(self.weather), now: self.start) == .refused(.app, delay: nil))
        #expect(machine.request(67, for: self.caller(self.weather), now: self.start) == .granted)
        #expect(machine.request(1, for: self.caller(self.weather), now: self.start) == .refused(.app, delay: nil))
        #expect(machine.request(33, for: self.caller(self.news), now: self.start) == .refused(.app, delay: nil))
        #expect(machine.request(20, for: self.caller(self.news), now: self.start) == .granted)
        while small.request(1, for: self.caller(self.weather), now: self.start) == .granted {}
        #expect(small.usage.held == 67)
    }

    @Test func nothingIsLargerThanItsBound() {
        var machine = self.machine(whole: .held(4), app: .held(3), caller: .held(2))
        let caller = self.caller(self.weather)
        #expect(machine.request(3, for: caller, now: self.start) == .refused(.caller, delay: nil))
        #expect(machine.request(2, for: caller, now: self.start) == .granted)
        var single = self.machine(whole: .held(1), caller: .timesFree(1))
        #expect(single.request(2, for: caller, now: self.start) == .refused(.caller, delay: nil))
        #expect(single.request(1, for: caller, now: self.start) == .granted, "the only one has the only one")
        #expect(single.request(1, for: self.caller(self.news), now: self.start) == .refused(.whole, delay: nil))
    }

    @Test func theWholeOfWhatChangesIsItsRoom() {
        var machine = self.machine(app: .timesFree(2))
        machine.resize(to: 10)
        #expect(machine.request(6, for: self.caller(self.weather), now: self.start) == .granted)
        machine.resize(to: 10)
        #expect(machine.request(5, for: self.caller(nil), now: self.start) == .refused(.whole, delay: nil))
        #expect(machine.request(4, for: self.caller(nil), now: self.start) == .granted)
        machine.resize(to: 0)
        #expect(machine.request(1, for: self.caller(nil), now: self.start) == .refused(.whole, delay: nil))
        // Nothing needs no room, and leaves no account.
        #expect(machine.request(0, for: self.caller(self.news), now: self.start) == .granted)
        #expect(machine.usageByApp.count == 2)
    }

    @Test func aLargeRequestIsNotOvertakenForEver() {
        var machine = self.machine(whole: .held(10), waiting: .init(whole: 10))
        #expect(machine.request(8, for: self.caller(self.weather), ticket: 0, now: self.start) == .granted)
        #expect(machine.request(5, for: self.caller(self.news), ticket: 1, now: self.start) == .queued)
        #expect(machine.request(1, for: self.caller(nil), ticket: 2, now: self.start) == .queued)
        #expect(machine.release(8, of: self.caller(self.weather)) == [1, 2])
    }

    /// Strangers of many networks are not one app, and neither are administrators.
    @Test func callersWithoutAnAppHaveNoShareOfOne() {
        var machine = self.machine(whole: .held(10), app: .held(2))
        for number in 1...10 {
            #expect(machine.request(1, for: self.caller(nil, "\(number)"), now: self.start) == .granted)
        }
        #expect(machine.request(1, for: self.caller(nil), now: self.start) == .refused(.whole, delay: nil))
    }

    @Test func whatIsHeldMovesToAnotherAccount() {
        var machine = self.machine(whole: .held(3), app: .held(2), caller: .held(1), waiting: .init(whole: 3))
        let (stranger, key) = (self.caller(nil), self.caller(self.weather))
        for caller in [stranger, self.caller(self.weather, "b"), self.caller(self.news)] {
            #expect(machine.request(1, for: caller, now: self.start) == .granted)
        }
        #expect(machine.request(1, for: stranger, ticket: 1, now: self.start) == .queued)
        // The whole is full, and holds no more for it.
        #expect(machine.move(1, from: stranger, to: key).full == nil)
        #expect(machine.usage(of: key).held == 1 && machine.usage(of: stranger).held == 0)
        #expect(machine.usage.held == 3)
        #expect(machine.move(1, from: self.caller(self.news), to: key).full == .caller)
        #expect(machine.move(1, from: self.caller(self.news), to: self.caller(self.weather, "c")).full == .app)
        #expect(machine.usage(of: self.caller(self.news)).held == 1)
        #expect(machine.release(1, of: key) == [1])
    }

    /// Whatever is taken, abandoned and released at random, nothing is lost and nothing is left.
    @Test(arguments: 0..<20) func accountsAddUp(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var machine = self.machine(
            whole: .held(10),
            app: .timesFree(2),
            caller: .held(4),
            waiting: .init(whole: 20, app: 10, caller: 5)
        )
        var (held, queued): ([(BudgetCaller, Int)], [UInt64: (BudgetCaller, Int)]) = ([], [:])
        func grant(_ tickets: [UInt64]) {
            for ticket in tickets {
                guard let request = queued.removeValue(forKey: ticket) else {
                    Issue.record("\(ticket) was granted and did not wait")
                    continue
                }
                held.append(request)
            }
        }
        for ticket in 0..<500 as Range<UInt64> {
            let app = [self.weather, self.news, nil].randomElement(using: &generator) ?? nil
            let caller = self.caller(app, ["a", "b"].randomElement(using: &generator) ?? "a")
            let amount = Int.random(in: 1...3, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                switch machine.request(amount, for: caller, ticket: ticket, now: self.start) {
                case .granted: held.append((caller, amount))
                case .queued: queued[ticket] = (caller, amount)
                case .refused: break
                }
            case 2:
                guard !held.isEmpty else { continue }
                let (caller, amount) = held.remove(at: Int.random(in: 0..<held.count, using: &generator))
                grant(machine.release(amount, of: caller))
            default:
                guard let (ticket, request) = queued.randomElement(using: &generator) else { continue }
                queued[ticket] = nil
                grant(machine.abandon(ticket, of: request.0)?.granted ?? [])
            }
            #expect(machine.usage.held == held.reduce(0) { $0 + $1.1 })
            #expect(machine.usage.held <= 10)
            #expect(machine.usage.waiting == queued.count)
        }
        while !held.isEmpty {
            let (caller, amount) = held.removeLast()
            grant(machine.release(amount, of: caller))
        }
        #expect(queued.isEmpty)
        #expect(machine.usageByApp.isEmpty)
    }
}
