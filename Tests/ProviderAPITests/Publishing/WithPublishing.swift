import Crypto
import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import PushTypes

/// A provider with an app and a publication.
struct PublishingFixture: Sendable {
    static let app = "/v1/apps/\(Vectors.bundleID)"
    /// The beginning of a PNG, which is what a cover is recognized by.
    static let image = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])

    let provider: RunningProvider
    /// A client with the public key of the app.
    let reader: JSONClient
    let publication: String

    var api: JSONClient { self.provider.api }

    /// Uploads a file in one request.
    /// - Returns: Its hash.
    @discardableResult
    func upload(_ content: Data, type: String = "application/zip") async throws -> String {
        let hash = Self.hash(content)
        let begun = try await self.api.post(
            "\(Self.app)/uploads",
            ["size": .integer(Int64(content.count)), "sha256": .string(hash), "contentType": .string(type)]
        )
        guard begun.json["complete"] == false else { return hash }
        let id = begun.json["id"].stringValue ?? ""
        let fields = ["content-type": "application/partial-upload", "upload-offset": "0"]
        _ = try await self.api.call("PATCH", "/v1/uploads/\(id)", content, headers: fields)
        return hash
    }

    /// Adds an issue with a rendition.
    /// - Returns: Its id.
    func addIssue(
        _ productID: String,
        date: String = "2026-11-20",
        access: String = "free",
        renditions: [String: String] = [:],
        publishes: Bool = true
    ) async throws -> String {
        let added = try await self.api.post(
            "/v1/publications/\(self.publication)/issues",
            [
                "productId": .string(productID), "title": .string("Title of \(productID)"), "date": .string(date),
                "access": .string(access),
            ]
        )
        let id = added.json["id"].stringValue ?? ""
        for (size, hash) in renditions {
            _ = try await self.api.put("/v1/issues/\(id)/renditions/\(size)", ["file": .string(hash)])
        }
        if publishes { try await self.api.post("/v1/issues/\(id):publish", [:]) }
        return id
    }

    static func hash(_ content: Data) -> String {
        SHA256.hash(data: content).map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
}

/// Runs a provider with an app and a publication for the duration of `body`.
func withPublishing(
    senders: ScriptedSender = ScriptedSender(),
    time: any TimeSource = SystemTime(),
    configure: @Sendable (inout ProviderConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (PublishingFixture) async throws -> Void
) async throws {
    try await withProvider(
        senders: senders,
        time: time,
        configure: {
            $0.limits.publicKeyRate = 0
            configure(&$0)
        }
    ) { provider in
        try await provider.addVectorsApp()
        let key: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
        var reader = provider.api
        reader.apiKey = try await provider.api.post("/v1/keys", key).json["key"].stringValue
        let added = try await provider.api.post("\(PublishingFixture.app)/publications", ["name": "The Example"])
        let publication = added.json["id"].stringValue ?? ""
        try await body(PublishingFixture(provider: provider, reader: reader, publication: publication))
    }
}
