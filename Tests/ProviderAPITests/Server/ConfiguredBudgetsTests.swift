import ProviderAPI
import PushProvider
import PushSupport
import Testing

/// The settings that change limits of resources.
@Suite struct ConfiguredBudgetsTests {
    private static let settings: [(String, @Sendable (inout ProviderConfiguration, Int) -> Void)] = [
        ("serve.connectionRate", { $0.limits.connectionRate = $1 }),
        ("serve.connections", { $0.limits.connections = $1 }), ("serve.keyRate", { $0.limits.keyRate = $1 }),
        ("serve.publicKeyRate", { $0.limits.publicKeyRate = $1 }),
        ("serve.homeserverRate", { $0.limits.homeserverRate = $1 }),
        ("serve.publishing.downloads", { $0.publishing.maximumDownloads = $1 }),
    ]

    /// A setting of 0, which is no limit for what it names, leaves all others.
    @Test(arguments: [0, 7]) func aSettingChangesTheRowsThatNameIt(value: Int) {
        let standard = ProviderConfiguration(dataDirectory: "/nowhere")
        func limits(_ configuration: ProviderConfiguration) -> [BudgetedResource: BudgetLimits] {
            let changed = configuration.budgets
            return Dictionary(
                uniqueKeysWithValues: BudgetedResource.allCases.map { ($0, changed[$0] ?? $0.row.limits) }
            )
        }
        let before = limits(standard)
        for (setting, set) in Self.settings {
            var configuration = standard
            set(&configuration, value)
            let after = limits(configuration)
            let changed = BudgetedResource.allCases.filter { before[$0] != after[$0] }
            #expect(changed == BudgetedResource.allCases.filter { $0.row.setting == setting }, "\(setting)")
        }
    }

    /// Before, the sessions of all apps could have as many connections as there were files.
    @Test(arguments: [(65_536, 32_768), (1024, 512), (1, 1)])
    func chatSessionsHaveHalfOfTheFilesThatMayBeOpen(files: Int, connections: Int) {
        var configuration = ProviderConfiguration(dataDirectory: "/nowhere")
        configuration.openFiles = files
        var expected = BudgetedResource.chatConnections.row.limits
        expected.bounds.whole = .held(connections)
        #expect(configuration.budgets[.chatConnections] == expected)
    }

    @Test func everySettingOfARowIsTested() {
        let named = Set(BudgetedResource.allCases.compactMap(\.row.setting))
        #expect(named == Set(Self.settings.map(\.0)))
    }

    /// Each default is said twice: in the row, for the table, and in the settings.
    @Test func theDefaultsAreThoseOfTheRows() {
        for (resource, limits) in ProviderConfiguration(dataDirectory: "/nowhere").budgets {
            #expect(limits == resource.row.limits, "\(resource)")
        }
    }
}
