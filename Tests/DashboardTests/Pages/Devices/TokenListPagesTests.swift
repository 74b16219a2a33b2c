import Foundation
import PushSupport
import PushTesting
import Testing

@testable import Dashboard

@Suite(.timeLimit(.patience)) struct TokenListPagesTests {
    private static let path = "/dashboard/apps/\(Vectors.bundleID)/tokens"

    @Test func eventsAreShownAndFiltered() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            _ = try await provider.api.delete("/v1/apps/\(Vectors.bundleID)/devices/\(Vectors.tokenA)")
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get(Self.path)
            #expect(page.status == 200 && page.contains(DeviceModel.short(Vectors.tokenA)))
            #expect(page.contains("Tokens that the push service calls invalid are deactivated."))
            let none = try await browser.get("\(Self.path)?action=withheld")
            #expect(none.contains("No event matches."))
            let wrong = try await browser.get("\(Self.path)?token=%3Cscript%3Ealert")
            #expect(wrong.contains("problem-token") && !wrong.hasMarkup)
        }
    }

    @Test func deactivationsAreCountedBeforeTheyAreUndone() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get(Self.path)
            let fields = ["from": "2026-01-01T00:00", "reason": "Unregistered"]
            let counted = try await browser.post("\(Self.path)/reactivate", fields, from: page)
            #expect(counted.status == 200 && counted.contains("devices would be active again."))
            let done = try await browser.post(
                "\(Self.path)/reactivate",
                fields.merging(["step": "do"]) { $1 },
                from: page
            )
            #expect(done.status == 200 && done.contains("The devices are active again."))
            let wrong = try await browser.post("\(Self.path)/reactivate", ["from": "yesterday"], from: page)
            #expect(wrong.status == 400 && wrong.contains("reactivate-from-problem"))
        }
    }

    @Test func anUnknownDecisionIsNotFound() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get(Self.path)
            #expect(try await browser.post("\(Self.path)/sandbox/frobnicate", [:], from: page).status == 404)
        }
    }

    @Test func aViewerDecidesNothing() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signIn("read", at: provider)
            let page = try await browser.get(Self.path)
            #expect(page.status == 200 && !page.contains("/reactivate"))
            for form in ["reactivate", "sandbox/apply", "sandbox/discard"] {
                #expect(try await browser.post("\(Self.path)/\(form)", [:], from: page).status == 403)
            }
        }
    }
}
