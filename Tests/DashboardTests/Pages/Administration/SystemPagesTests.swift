import Foundation
import PushTesting
import Testing

@Suite(.timeLimit(.patience)) struct SystemPagesTests {
    @Test func theSystemPageShowsTheStore() async throws {
        try await withDashboard { provider, browser in
            try await browser.signIn("read", at: provider)
            let page = try await browser.get("/dashboard/system")
            #expect(page.status == 200 && page.contains("Write-ahead log") && page.contains("urgent"))
        }
    }

    @Test func theAuditIsFiltered() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let all = try await browser.get("/dashboard/audit")
            #expect(all.status == 200 && all.contains("POST /v1/apps"))
            let none = try await browser.get("/dashboard/audit?action=\(Self.encoded(Browser.markup))")
            #expect(none.contains("No change matches these filters.") && !none.hasMarkup)
            let wrong = try await browser.get("/dashboard/audit?from=yesterday")
            #expect(wrong.status == 200 && wrong.contains("problem-from") && !wrong.contains("value=\"yesterday\""))
        }
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
