import Foundation
import PushSupport
import PushTesting
import Testing
@testable import martlet

/// The commands for publications and issues, against a running provider.
@Suite(.timeLimit(.minutes(5))) struct IssueCommandTests {
    private let app = Vectors.bundleID

    @Test func anIssueGoesFromItsFileToNotify() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/issue7.zip"
            try Data((0..<300_000).map { UInt8($0 % 251) }).write(to: URL(filePath: file))
            try await withProvider(senders: ScriptedSender()) { provider in
                try await provider.addVectorsApp()
                _ = try await provider.register(
                    Vectors.tokenA,
                    ["environment": "production", "capabilities": ["newsstand"]]
                )
                let added = try await provider.martlet(
                    "publication",
                    "add",
                    "The Example",
                    "--wave-size",
                    "5",
                    "--maximum-downloads",
                    "9",
                    "--app",
                    app
                )
                #expect(added.contains("The Example"))
                let path = "/v1/apps/\(app)/publications"
                let publication = try await provider.api.get(path).json["publications"].elements.first?["id"]
                    .stringValue
                let id = try #require(publication)
                try await provider.martlet("publication", "set", id, "--maximum-downloads", "0", "--name", "Another")
                #expect(try await provider.martlet("publication", "show", id).contains("Another"))
                try await provider.martlet(
                    "issue",
                    "add",
                    "com.example.issue7",
                    "--title",
                    "Issue 7",
                    "--date",
                    "2026-11-20",
                    "--publication",
                    id
                )
                let issues = try await provider.api.get("/v1/publications/\(id)/issues").json["issues"].elements
                let issue = try #require(issues.first?["id"].stringValue)
                let uploaded = try await provider.martlet("issue", "upload", issue, file, "--screen", "2048x1536")
                #expect(uploaded.contains("2048x1536 (300000 bytes)"))
                // The provider has the file, so that nothing is sent again.
                #expect(try await provider.martlet("issue", "upload", issue, file, "--cover").contains("issue7.zip"))
                #expect(try await provider.martlet("issue", "set", issue, "--number", "7").contains("draft"))
                #expect(try await provider.martlet("issue", "publish", issue).contains("published"))
                #expect(try await provider.martlet("issue", "list", "--publication", id).contains("com.example.issue7"))
                let notified = try await provider.martlet("issue", "notify", issue)
                #expect(notified.hasPrefix("notification "))
                #expect(try await provider.martlet("issue", "withdraw", issue).contains("withdrawn"))
                #expect(try await provider.martlet("issue", "remove", issue) == "the issue is removed")
            }
        }
    }
}
