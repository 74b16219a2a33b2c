import PushHTTP
import PushSupport
import PushTypes
import Testing

/// The metrics of budgets.
@Suite struct BudgetMetricsTests {
    @Test func whatIsHeldWaitsAndWasRefusedIsShownByApp() async throws {
        let limits = BudgetLimits(.init(whole: .held(1)))
        let budgets = BudgetRegistry([.queries: limits])
        let gauges = GaugeRegistry()
        gauges.add(budgets)
        let weather = BudgetCaller(app: Topic("com.example.weather"), .name("a"))
        let permit = try budgets[.queries].take(for: weather)
        #expect(throws: BudgetRefusal.self) { try budgets[.queries].take(for: BudgetCaller()) }
        let lines = try await gauges.text().split(separator: "\n").filter { $0.contains("\"queries\"") }
        #expect(
            Set(lines) == [
                "martlet_resource_in_use{app=\"com.example.weather\",resource=\"queries\"} 1",
                "martlet_resource_in_use{resource=\"queries\"} 0",
                "martlet_resource_refused_total{level=\"whole\",resource=\"queries\"} 1",
            ]
        )
        permit.end()
        #expect(try await !gauges.text().contains("app=\"com.example.weather\""))
    }
}
