import Foundation
import NIOHTTP1
import PushHTTP
import PushSupport
import PushTesting
import Testing

@testable import Dashboard

@Suite(.timeLimit(.patience)) struct CredentialPagesTests {
    private static let path = "/dashboard/apps/\(Vectors.bundleID)/credentials"

    @Test func aKeyIsUploadedTestedAndRemoved() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp(in: [])
            try await browser.signInAsAdmin(at: provider)
            let empty = try await browser.get(Self.path)
            #expect(empty.contains("No credential yet"))
            let file = (name: "AuthKey_\(Vectors.keyID).p8", content: Vectors.privateKey)
            let fields = ["teamId": Vectors.teamID, "do": "save"]
            let set = try await browser.upload("\(Self.path)/sandbox", fields, file: file, from: empty)
            #expect(set.status == 200 && set.contains(Vectors.keyID) && set.contains("Sending goes on"))
            #expect(!set.contains("PRIVATE KEY"))
            let tested = try await browser.post("\(Self.path)/sandbox/test", [:], from: set)
            #expect(tested.status == 200 && tested.contains("Credential accepted"))
            let removed = try await browser.post("\(Self.path)/sandbox/remove", [:], from: tested)
            #expect(removed.contains("Removed.") && !removed.contains(Vectors.keyID))
        }
    }

    @Test func aRefusalForNowSaysWhenToTryAgain() async throws {
        try await withDashboard(time: ManualTime()) { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get(Self.path)
            #expect(page.headers.first(name: "retry-after") == nil)
            var refused = page
            for _ in 0..<50 where refused.status != 429 {
                refused = try await browser.post("\(Self.path)/sandbox/test", [:], from: page)
            }
            #expect(refused.status == 429)
            let seconds = refused.headers.first(name: "retry-after").flatMap(Int.init)
            #expect(seconds.map { (1...6).contains($0) } == true)
        }
    }

    @Test func theErrorIsAtTheField() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp(in: [])
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get(Self.path)
            let none = try await browser.post("\(Self.path)/sandbox", ["do": "save"], from: page)
            #expect(none.status == 400 && none.contains("sandbox-file-problem"))
            let team = try await browser.upload(
                "\(Self.path)/sandbox",
                ["teamId": Browser.markup, "do": "save"],
                file: ("AuthKey_\(Vectors.keyID).p8", Vectors.privateKey),
                from: page
            )
            #expect(team.status == 400 && team.contains("sandbox-teamId-problem") && !team.hasMarkup)
            #expect(!team.contains("PRIVATE KEY") && team.contains("&quot;privateKey&quot;:&quot;…&quot;"))
            let garbage = try await browser.upload(
                "\(Self.path)/production",
                ["do": "save", "passphrase": "open sesame"],
                file: ("x.p12", "garbage"),
                from: page
            )
            #expect(!garbage.contains("open sesame") && !garbage.contains(Data("garbage".utf8).base64EncodedString()))
            #expect(garbage.status == 400 && garbage.contains("production-file-problem"))
        }
    }

    @Test func aViewerSeesAndSetsNothing() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signIn("read", at: provider)
            let page = try await browser.get(Self.path)
            #expect(page.status == 200 && !page.contains("<form class=\"form\""))
            for form in ["sandbox", "sandbox/test", "sandbox/remove", "sandbox/resume"] {
                #expect(try await browser.post("\(Self.path)/\(form)", [:], from: page).status == 403, "\(form)")
            }
        }
    }

    @Test(arguments: [
        ("AuthKey_ABC123DEFG.p8", "ABC123DEFG"), ("AuthKey_ABC123DEFG (1).p8", "ABC123DEFG"),
        (#"C:\keys\AuthKey_ABC123DEFG.p8"#, "ABC123DEFG"), ("key.p8", nil), ("AuthKey_<script>.p8", nil),
    ])
    func theIdOfAKeyIsInItsFileName(_ name: String, _ id: String?) {
        #expect(CredentialUpload.keyID(of: name) == id)
    }
}
