import Foundation
import Testing

@testable import MartletKit

@Suite("Encrypted notifications of an app") struct MartletEncryptionTests {
    /// Content that another implementation, pyhpke 0.6.5, has encrypted to the key of RFC 9180, A.2.1, with scripts/hpke.py.
    private static let sealed = """
        6gB7rTTnWA4LXflrb7hTbpO2gFWlK6vTwPAbEZgLZWPYv5ev/Kw8BVaPLVnozbpO20pwdzpmHPeLCGgq/I/HDxZZweZFr5jb3Wp/\
        NojA9Rch1ohNm/hcGXdbYQW+gHHHy/DHHtLN4kddRVsEkNObU6psR4zZ7L7qyne1XbLBn8fActm8Um7yCbzsjcJJ\

        """
    private static let payload = """
        {"aps":{"alert":{"title":"New message"},"mutable-content":1},
         "martlet":{"id":"0A1B2C3D-0000-4000-8000-00000000000F","receipts":"device",
                    "sealed":{"key":"rfc","data":"\(Self.sealed)"}}}
        """

    /// Returns a storage with the key of the vector.
    private func storage() throws -> MemoryStorage {
        let key = "gFeZHu+PHxrxj0qUkdFqHOMz9pXU24442nWXXER44Ps="
        return MemoryStorage([
            "key-1": Data(#"{"keys":[{"id":"rfc","private":"\#(key)","created":0}]}"#.utf8)
        ])
    }

    @Test(
        "The handler and the extension get the content, whichever way it came",
        arguments: [
            Arrival.foreground, .background, .opened, .launch, .serviceExtension,
        ]
    )
    func content(arrival: Arrival) async throws {
        let app = try TestApp(storage: try self.storage())
        let notification = try #require(ReceivedNotification(json: Data(Self.payload.utf8)))
        #expect(notification.title == "New message")
        let reception = await app.martlet.receive(notification, arrival)
        #expect(reception.notification.title == "Your order")
        #expect(reception.notification.body == "is on its way")
        #expect(reception.notification.data == ["class": "Order", "property": 42])
        #expect(reception.notification.id == notification.id)
        #expect(app.events.isEmpty)
    }

    @Test("Content that cannot be opened shows the placeholder, and the app hears why")
    func placeholder() async throws {
        let app = try TestApp()
        let notification = try #require(ReceivedNotification(json: Data(Self.payload.utf8)))
        let reception = await app.martlet.receive(notification, .serviceExtension)
        #expect(reception.notification == notification)
        #expect(app.events == [.contentNotOpened(reason: "this installation has no key rfc")])
    }

    @Test("The public key is registered, and a new one in its place")
    func registration() async throws {
        let app = try TestApp()
        let keys = EncryptionKeys(storage: app.storage)
        try await app.martlet.register(token: TestApp.token)
        for key in [try keys.current(), try keys.rotate()] {
            try await app.martlet.setEncryptionKey(key)
            await app.martlet.synchronize()
            let expected: JSONValue = .object([
                "id": .string(key.id), "key": .string(key.publicKey.base64EncodedString()),
            ])
            #expect(app.transport.bodies().last?["encryptionKey"] == expected)
        }
        try await app.martlet.setEncryptionKey(nil)
        await app.martlet.synchronize()
        #expect(app.transport.bodies().last?["encryptionKey"] == .null)
    }
}
