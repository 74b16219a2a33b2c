import Foundation
import MartletKit
import ProviderModel
import PushProvider
import Testing

@Suite("Encrypted content from provider to app") struct EncryptedContentTests {
    @Test("MartletKit opens what the provider encrypts, before and after a change of the key")
    func bothEnds() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let keys = EncryptionKeys(storage: try FolderStorage(folder: folder))
        let key = try keys.current()
        #expect(InstallationPublicKey.isUsable(key.publicKey))
        let notification = UUID()
        let payload = #"{"aps":{"alert":{"title":"Your order","body":"ä € 🛒"}},"class":"Order","property":42}"#
        let sealer = ContentSealer(bundleID: "com.example.app", notification: notification)
        let sealed = try sealer.seal(Data(payload.utf8), to: key.publicKey)
        let text = """
            {"aps":{"alert":"New message","mutable-content":1},
             "martlet":{"id":"\(notification.uuidString)","sealed":{"key":"\(key.id)","data":"\(sealed)"}}}
            """
        let received = try #require(ReceivedNotification(json: Data(text.utf8)))
        for _ in 0..<2 {
            let opened = keys.open(received, app: "com.example.app")
            #expect(opened.failure == nil)
            #expect(opened.notification.title == "Your order")
            #expect(opened.notification.body == "ä € 🛒")
            #expect(opened.notification.data == ["class": "Order", "property": 42])
            #expect(opened.notification.id == notification)
            _ = try keys.rotate()
        }
        #expect(keys.open(received, app: "com.example.other").failure == .notAuthentic)
    }
}
