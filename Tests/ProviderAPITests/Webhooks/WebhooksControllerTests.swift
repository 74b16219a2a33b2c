import Foundation
import PushSupport
import PushTesting
import Testing

/// Webhooks over the API.
@Suite(.timeLimit(.patience)) struct WebhooksControllerTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    @Test func aWebhookShowsItsSecretOnce() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let added = try await provider.api.post(
                "\(Self.app)/webhooks",
                ["url": "https://Hooks.example.com/a", "events": ["token"]]
            )
            #expect(added.status == 201)
            #expect(added.json["secret"].stringValue?.hasPrefix("whsec_") == true)
            let path = "/v1/webhooks/\(added.json["id"].stringValue ?? "")"
            let shown = try await provider.api.get(path).json
            #expect(shown["secret"] == .null)
            #expect(shown["url"] == "https://hooks.example.com:443/a")
            #expect(try await provider.api.get("\(Self.app)/webhooks").json["webhooks"].elements == [shown])
            let rotated = try await provider.api.post("\(path):rotate", [:]).json["secret"]
            #expect(rotated != added.json["secret"] && rotated != .null)
            #expect(try await provider.api.post("\(path):finish-rotation", [:]).json["secret"] == .null)
            let off = try await provider.api.call("PATCH", path, Data(#"{"active":false,"events":["delivery"]}"#.utf8))
            #expect(off.json["active"] == false)
            #expect(off.json["events"] == ["delivery"])
            #expect(try await provider.api.post("\(path):enable", [:]).json["active"] == true)
            #expect(try await provider.api.post("\(path):replay", ["block": 1]).json["block"] == 0)
            #expect(try await provider.api.post("\(path):replay", [:]).status == 400)
            let milliseconds = try await provider.api.post("\(path):replay", ["since": 1_700_000_000_000]).json
            #expect(milliseconds["warnings"].elements.map { $0["field"] } == ["since"])
            #expect(try await provider.api.post("\(path):replay", ["since": 1_700_000_000]).json["warnings"] == .null)
            #expect(try await provider.api.delete(path).status == 204)
            #expect(try await provider.api.get(path).code == "no_such_webhook")
        }
    }

    @Test(arguments: [
        "http://hooks.example.com/", "https://127.0.0.1/", "https://localhost/", "https://[::1]/", "https://10.0.0.1/",
        "https://169.254.169.254/latest", "https://user:pw@example.com/", "https://example.com:25/",
        "ftp://example.com",
        "", "https://2130706433/",
    ])
    func aWebhookToAPrivatePlaceIsRejected(url: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let response = try await provider.api.post("\(Self.app)/webhooks", ["url": .string(url)])
            #expect(response.status == 400)
            #expect(response.field == "url")
        }
    }
}
