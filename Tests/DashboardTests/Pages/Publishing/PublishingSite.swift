import Crypto
import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

/// A publisher's app, and its pages in a browser.
struct PublishingSite: Sendable {
    static let path = "/dashboard/apps/\(Vectors.bundleID)/publishing"

    let provider: RunningProvider
    let browser: Browser

    func addPublication(_ members: [String: JSONValue] = [:]) async throws -> String {
        let body = JSONValue.object(members.merging(["name": "The Example"]) { given, _ in given })
        let added = try await self.provider.api.post("/v1/apps/\(Vectors.bundleID)/publications", body)
        return try #require(added.json["id"].stringValue)
    }

    func addIssue(
        _ product: String = "com.example.issue7",
        of publication: String,
        title: String = "Issue 7",
        date: String = "2026-11-20",
        isPublished: Bool = false
    ) async throws -> String {
        let body: JSONValue = ["productId": .string(product), "title": .string(title), "date": .string(date)]
        let added = try await self.provider.api.post("/v1/publications/\(publication)/issues", body)
        let id = try #require(added.json["id"].stringValue)
        if isPublished {
            try await self.addRendition(to: id)
            try await self.provider.api.post("/v1/issues/\(id):publish", [:])
        }
        return id
    }

    /// Uploads a file, and sets it for a screen size.
    func addRendition(to issue: String, size: String = "1024x768", content: String = "an issue") async throws {
        let (api, data) = (self.provider.api, Data(content.utf8))
        let hash = SHA256.hash(data: data).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        let begun = try await api.post(
            "/v1/apps/\(Vectors.bundleID)/uploads",
            ["size": .integer(Int64(data.count)), "sha256": .string(hash), "name": "issue.zip"]
        )
        if begun.json["complete"] == false {
            let fields = ["content-type": "application/partial-upload", "upload-offset": "0"]
            _ = try await api.call("PATCH", "/v1/uploads/\(begun.json["id"].stringValue ?? "")", data, headers: fields)
        }
        _ = try await api.put("/v1/issues/\(issue)/renditions/\(size)", ["file": .string(hash)])
    }

    /// Registers a device that loads issues.
    func addReader(_ number: Int) async throws {
        let body: [String: JSONValue] = ["environment": "production", "capabilities": ["alert", "newsstand"]]
        _ = try await self.provider.register(DeviceToken.numbered(number).hex, body)
    }

    func path(ofIssue id: String) -> String { "\(Self.path)/issues/\(id)" }
}

/// Runs a provider with a publisher's app, and a browser that is signed in as an admin.
func withPublishingSite(
    senders: ScriptedSender = ScriptedSender(),
    _ body: @escaping @Sendable (PublishingSite) async throws -> Void
) async throws {
    try await withDashboard(senders: senders) { provider, browser in
        try await provider.addVectorsApp()
        try await browser.signInAsAdmin(at: provider)
        try await body(PublishingSite(provider: provider, browser: browser))
    }
}
