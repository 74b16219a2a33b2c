import Foundation
import PushSupport
import Testing

/// The rows of the resources.
@Suite struct ResourceUseTests {
    /// A row that nothing is taken by bounds nothing, whatever the documents say.
    @Test func everyResourceIsUsed() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var text = ""
        for case let file as URL in files
        where file.pathExtension == "swift" && !file.path.contains("/PushSupport/Budgets/") {
            text += try String(contentsOf: file, encoding: .utf8)
        }
        let unused = BudgetedResource.allCases.filter { resource in
            !["budgets", "self"].contains { text.contains("\($0)[.\(resource.rawValue)]") }
        }
        #expect(unused == [])
    }

    @Test func aRefusalNamesItsBound() {
        let messages = [
            BudgetRefusal(.queries, .whole), BudgetRefusal(.livePages, .caller), BudgetRefusal(.counts, .app),
        ]
        .map(\.error.error.message)
        #expect(
            messages == [
                "the provider has one of the long queries at a time: wait for the responses to the others",
                "this person has 4 live pages, the most at a time: close other tabs",
                "this app has its share of the counts of recipients now: try again in a few seconds",
            ]
        )
    }
}
