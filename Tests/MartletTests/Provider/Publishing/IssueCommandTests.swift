import ArgumentParser
import Foundation
import PushSupport
import PushTesting
import Testing

@testable import martlet

/// The commands for publications and issues, against a running provider.
@Suite(.timeLimit(.patience)) struct IssueCommandTests {
    private let app = Vectors.bundleID

    /// Nothing of a long file is sent for a size that is refused afterwards.
    @Test(arguments: ["foo", "2048", "2048x", "0x1"])
    func aScreenSizeIsCheckedBeforeTheUpload(size: String) throws {
        #expect(throws: (any Error).self) {
            try MartletCommand.parseAsRoot(["issue", "upload", "7d6f", "issue7.zip", "--screen", size])
        }
    }

    @Test func theSteeringIsSetOrCleared() throws {
        for words in [["--no-steering", "--maximum-downloads", "5"], ["--no-subscriptions", "--subscription", "a"]] {
            #expect(throws: (any Error).self) {
                try MartletCommand.parseAsRoot(["publication", "set", "52c4"] + words)
            }
        }
        _ = try MartletCommand.parseAsRoot(["publication", "set", "52c4", "--no-steering", "--subscription", "a"])
        _ = try MartletCommand.parseAsRoot(["issue", "upload", "7d6f", "issue7.zip", "--screen", "1536x2048"])
    }

    @Test func notifyTellsWhoIsWoken() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/issue7.zip"
            try Data("an issue".utf8).write(to: URL(filePath: file))
            try await withProvider(senders: ScriptedSender()) { provider in
                try await provider.addVectorsApp()
                let path = "/v1/apps/\(app)/publications"
                let publication = try await provider.api.post(path, ["name": "The Example"]).json["id"].stringValue
                let added = try await provider.api.post(
                    "/v1/publications/\(try #require(publication))/issues",
                    ["productId": "com.example.issue7", "title": "Issue 7", "date": "2026-11-20"]
                )
                let issue = try #require(added.json["id"].stringValue)
                try await provider.martlet("issue", "upload", issue, file, "--screen", "2048x1536")
                try await provider.martlet("issue", "publish", issue)
                // Nobody has a device, and a device that comes later is not woken by a repetition.
                for _ in 1...2 {
                    await #expect(throws: ExitCode(3)) { try await provider.martlet("issue", "notify", issue) }
                }
                _ = try await provider.register(
                    Vectors.tokenA,
                    ["environment": "production", "capabilities": ["newsstand"]]
                )
                let notified = try await provider.martlet("issue", "notify", issue, "--again")
                #expect(notified.hasPrefix("notification "))
                let repeated = try await provider.martlet("issue", "notify", issue)
                #expect(repeated.prefix(50) == notified.prefix(50))
            }
        }
    }

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
                let limits = ["--maximum-downloads", "9", "--maximum-bandwidth", "8", "--subscription", "monthly"]
                #expect(try await provider.martlet(["publication", "set", id] + limits).contains("monthly"))
                let cleared = ["publication", "set", id, "--no-steering", "--no-subscriptions"]
                #expect(try await !provider.martlet(cleared).contains("monthly"))
                let shown = try await provider.api.get("/v1/publications/\(id)").json
                #expect(shown["waves"]["steering"] == .null && shown["subscriptionProducts"] == [])
                try await provider.martlet(
                    "issue",
                    "add",
                    "com.example.issue7",
                    "--title",
                    "Issue 7",
                    "--date",
                    "2026-11-20",
                    "--access",
                    "retail",
                    "--publication",
                    id
                )
                let issues = try await provider.api.get("/v1/publications/\(id)/issues").json["issues"].elements
                let issue = try #require(issues.first?["id"].stringValue)
                #expect(issues.first?["access"] == "retail")
                try await provider.martlet("issue", "set", issue, "--access", "free")
                let lost = try await provider.api.post(
                    "/v1/apps/\(app)/uploads",
                    ["size": 10, "sha256": .string(String(repeating: "a", count: 64)), "name": "lost.zip"]
                )
                let open = try await provider.martlet("issue", "uploads", "--app", app)
                #expect(open.contains("lost.zip") && open.contains(lost.json["id"].stringValue ?? "none"))
                let uploaded = try await provider.martlet("issue", "upload", issue, file, "--screen", "2048x1536")
                #expect(uploaded.contains("2048x1536 (300000 bytes)"))
                // The provider has the file, so that nothing is sent again.
                #expect(
                    try await provider.martlet("issue", "upload", issue, file, "--screen", "1024x768").contains("768")
                )
                let noImage = await failure { try await provider.martlet("issue", "upload", issue, file, "--cover") }
                #expect(noImage?.contains("is no image") == true)
                let image = "\(directory)/cover.webp"
                try Data("RIFF0000WEBPVP8 ".utf8).write(to: URL(filePath: image))
                #expect(try await provider.martlet("issue", "upload", issue, image, "--cover").contains("cover.webp"))
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
