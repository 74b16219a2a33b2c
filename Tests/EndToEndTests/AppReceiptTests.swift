import Foundation
import MartletKit
import NIOCore
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Receipts of an app with MartletKit and of its extension, at a provider.
@Suite(.timeLimit(.patience)) struct AppReceiptTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    @Test("What the app and its extension report is counted once, at the level of privacy that all allow")
    func receipts() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            try await provider.api.call("PATCH", Self.app, Data(#"{"receipts":"device"}"#.utf8))
            let key: PushSupport.JSONValue = [
                "name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)],
            ]
            let issued = try await provider.api.post("/v1/keys", key).json["key"].stringValue ?? ""
            let url = try #require(URL(string: provider.api.baseURL))
            let base = try Martlet.Configuration(provider: url, app: Vectors.bundleID, key: issued)
            try await withTemporaryDirectory { directory in
                let storage = try FolderStorage(folder: URL(fileURLWithPath: directory))
                var configuration = base
                configuration.environment = .sandbox
                let martlet = Martlet(configuration, storage: storage)
                configuration.role = .serviceExtension
                let other = Martlet(configuration, storage: storage)
                try await martlet.updateProfile(DeviceProfile(capabilities: [.alert]))
                try await martlet.register(token: Data(repeating: 0xA7, count: 32))
                await martlet.synchronize()

                let first = try await Self.send(provider, sender)
                #expect(first.notification.receipts == .device)
                _ = await other.receive(first.notification, .serviceExtension)
                _ = await martlet.receive(first.notification, .opened)
                _ = await martlet.receive(first.notification, .opened)
                try await martlet.recordConversion(of: try #require(first.notification.id), name: "bought")
                await martlet.synchronize()
                let receipts = try await provider.api.get("/v1/notifications/\(first.id)/receipts").json["receipts"]
                let events = receipts.elements.compactMap { $0["event"].stringValue }
                #expect(events.sorted() == ["converted", "delivered", "opened", "shown"])
                #expect(receipts.elements.allSatisfy { $0["deviceId"].integerValue != nil })

                try await martlet.setReceiptPrivacy(.counts)
                let second = try await Self.send(provider, sender)
                _ = await martlet.receive(second.notification, .opened)
                await martlet.synchronize()
                let path = "/v1/notifications/\(second.id)/receipts"
                let counted = try await provider.api.get(path).json["receipts"].elements
                #expect(counted.allSatisfy { $0["deviceId"].integerValue == nil })
                #expect(await martlet.status()?.waitingReceipts == 0)
            }
        }
    }

    /// Sends to everybody, and returns the notification as the app receives it.
    private static func send(
        _ provider: RunningProvider,
        _ sender: ScriptedSender
    ) async throws -> (id: String, notification: ReceivedNotification) {
        let response = try await provider.send(["to": ["all": true], "alert": ["body": "Hi"]])
        _ = try await provider.finished(response)
        let payload = try #require(sender.sent.last?.notification.payload)
        let notification = try #require(ReceivedNotification(json: Data(payload.readableBytesView)))
        return (try #require(response.json["id"].stringValue), notification)
    }
}
