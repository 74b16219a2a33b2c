import PushSupport
import PushTypes
import Testing

@Suite struct BudgetPermitTests {
    private let stranger = BudgetCaller(.network([1]))
    private let key = BudgetCaller(app: Topic("com.example.news"), .name("key"))

    private func budget() -> Budget {
        Budget(.connections, limits: BudgetLimits(.init(whole: .held(2), caller: .held(1))))
    }

    @Test func aPermitIsGivenBackOnceByTheAccountThatHasIt() throws {
        let budget = self.budget()
        let permit = try budget.take(for: self.stranger)
        try permit.move(to: self.key)
        #expect(budget.usage(of: self.stranger).held == 0 && budget.usage(of: self.key).held == 1)
        permit.end()
        permit.end()
        #expect(budget.usage.held == 0 && budget.usageByApp.isEmpty)
        // What has ended moves nothing.
        try permit.move(to: self.stranger)
        #expect(budget.usage.held == 0)
    }

    @Test func aPermitTakesMoreOnItsAccount() throws {
        let budget = Budget(.connections, limits: BudgetLimits(.init(whole: .held(3), caller: .held(2))))
        let permit = try budget.take(for: self.stranger)
        try permit.move(to: self.key)
        try permit.extend(by: 1)
        #expect(budget.usage(of: self.key).held == 2)
        let refusal = #expect(throws: BudgetRefusal.self) { try permit.extend(by: 1) }
        #expect(refusal?.level == .caller && budget.usage.held == 2)
        permit.end()
        #expect(budget.usageByApp.isEmpty)
    }

    @Test func aPermitOfAnExpectedAmountIsAdjustedToTheActualOne() throws {
        let budget = Budget(.responseBytes, limits: BudgetLimits(.init(whole: .held(8), caller: .held(5))))
        let permit = try budget.take(4, for: self.key)
        try permit.adjust(to: 2)
        #expect(budget.usage(of: self.key).held == 2)
        try permit.adjust(to: 5)
        #expect(budget.usage(of: self.key).held == 5)
        let refusal = #expect(throws: BudgetRefusal.self) { try permit.adjust(to: 6) }
        #expect(refusal?.level == .caller && budget.usage.held == 5)
        permit.end()
        #expect(budget.usageByApp.isEmpty)
    }

    /// A site has many networks of IPv6, and one of IPv4.
    @Test func networksOfASiteHaveOneAccount() {
        let (app, site) = (Topic("com.example.news"), [0x20, 1, 0xd, 0xb8, 0, 1] as [UInt8])
        let networks = (0..<3 as Range<UInt8>).map { BudgetCaller(app: app, .network(site + [0, $0])) }
        #expect(Set(networks.map(\.site)) == [BudgetCaller(app: app, .network(site))])
        for other in [BudgetCaller(app: app, .network([192, 0, 2, 1])), self.stranger, self.key] {
            #expect(other.site == other)
        }
    }

    @Test func aRefusedMoveLeavesEverythingWhereItIs() throws {
        let budget = self.budget()
        let (own, other) = (try budget.take(for: self.key), try budget.take(for: self.stranger))
        let refusal = #expect(throws: BudgetRefusal.self) { try other.move(to: self.key) }
        #expect(refusal?.level == .caller && budget.refusals.map(\.count) == [1])
        #expect(budget.usage(of: self.stranger).held == 1 && budget.usage.held == 2)
        own.end()
        try other.move(to: self.key)
        other.end()
        #expect(budget.usageByApp.isEmpty)
    }
}
