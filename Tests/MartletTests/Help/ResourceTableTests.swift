import Foundation
import PushSupport
import Testing

@testable import martlet

/// The table of what callers compete for.
@Suite struct ResourceTableTests {
    /// A new resource, or another limit, needs its row: `martlet help resources --markdown`.
    @Test func theDocumentHasTheTableOfTheCode() throws {
        let path = URL(filePath: #filePath).appending(path: "../../../../docs/security.md").standardized
        let text = try String(contentsOf: path, encoding: .utf8)
        let (begin, end) = ResourceTableText.markers
        let after = try #require(text.components(separatedBy: begin + "\n").last)
        #expect(after.components(separatedBy: end).first == ResourceTableText.markdown)
    }

    @Test func everySettingExists() {
        let keys = Set(SettingTable.all.flatMap(\.settings).map(\.key))
        let settings = PushSupport.BudgetedResource.allCases.compactMap(\.row.setting)
        #expect(settings.filter { !keys.contains($0) } == [])
    }
}
