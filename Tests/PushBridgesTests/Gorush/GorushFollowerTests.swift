import PushSupport
import PushTypes
import Testing

@Suite struct GorushFollowerTests {
    /// Before, one app's tokens took all, and the outcomes of others were not followed.
    @Test func theTokensInMemoryAreLimitedByApp() throws {
        let budget = Budget(.followedOutcomes)
        let (first, second) = (try #require(Topic("com.example.First")), try #require(Topic("com.example.Second")))
        var held: [BudgetPermit] = []
        while let place = try? budget.take(10_050, for: BudgetCaller(app: first)) { held.append(place) }
        #expect((20...25).contains(held.count), "half of all")
        let other = try budget.take(10_050, for: BudgetCaller(app: second))
        other.end()
        for place in held { place.end() }
        #expect(budget.usage.held == 0)
    }
}
