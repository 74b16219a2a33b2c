import Foundation
import Testing

@testable import MartletKit

@Suite("The app's side of push", .timeLimit(.minutes(1))) struct MartletTests {
    @Test("An app registers once, and again when something changes")
    func registration() async throws {
        let app = try TestApp()
        await app.martlet.launched(
            DeviceProfile(
                locale: "pt-BR",
                timeZone: "Europe/Berlin",
                appVersion: "1.2",
                capabilities: [.alert, .badge]
            )
        )
        await app.martlet.synchronize()
        #expect(app.transport.requests.isEmpty)
        await app.martlet.register(TestApp.token)
        await app.martlet.synchronize()
        await app.martlet.register(TestApp.token)
        await app.martlet.synchronize()
        let request = try #require(app.transport.requests.first)
        let status = try #require(await app.martlet.status())
        #expect(app.transport.requests.count == 1)
        #expect(request.method == "PUT" && request.headers["authorization"] == "Bearer mk_public_x")
        let url = "https://push.example.com/v1/apps/com.example.App/installations/\(status.installation.uuidString)"
        #expect(request.url.absoluteString == url)
        let body: [String: JSONValue] = [
            "token": .string(String(repeating: "a1", count: 32)), "environment": "production", "kind": "alert",
            "locale": "pt-BR", "timeZone": "Europe/Berlin", "appVersion": "1.2",
            "capabilities": .array(["alert", "badge"]),
        ]
        #expect(app.transport.bodies().first == body)
        #expect(status.isConfirmed)
        await app.martlet.launched(DeviceProfile(capabilities: [.alert, .badge, .sound, .background]))
        await app.martlet.synchronize()
        #expect(app.transport.bodies().last?["capabilities"] == .array(["alert", "badge", "sound", "background"]))
        #expect(app.transport.bodies().last?["secret"] == "s1")
        #expect(app.transport.requests.count == 2)
    }

    @Test("Receipts of what arrives are made once and sent together")
    func receipts() async throws {
        let app = try TestApp()
        await app.martlet.register(TestApp.token)
        let id = "0A1B2C3D-0000-4000-8000-00000000000F"
        let text = #"{"aps":{"alert":"Hi"},"martlet":{"id":"\#(id)","receipts":"device"}}"#
        let notification = try #require(ReceivedNotification(json: Data(text.utf8)))
        let reception = await app.martlet.receive(notification, .foreground)
        #expect(reception.presentation == .all)
        _ = await app.martlet.receive(notification, .opened)
        _ = await app.martlet.receive(notification, .launch)
        _ = await app.martlet.receive(notification, .action("REPLY", text: "secret words"))
        await app.martlet.converted(by: try #require(notification.id), name: "bought")
        await app.martlet.synchronize()
        let sent = app.transport.bodies("POST").flatMap { $0["receipts"]?.array ?? [] }.compactMap(\.object)
        let events = sent.compactMap { $0["event"]?.string }
        #expect(events.sorted() == ["action", "converted", "delivered", "opened", "shown"])
        #expect(sent.first { $0["event"] == "action" }?["action"] == "REPLY")
        #expect(sent.allSatisfy { $0["notification"] == .string(id) })
        #expect(app.transport.bodies("POST").allSatisfy { $0["privacy"] == "device" })
        #expect(app.transport.requests.last?.headers["installation-secret"] == "s1")
        #expect(
            app.transport.requests.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains("secret words") }
        )
        #expect(await app.martlet.status()?.waitingReceipts == 0)
    }
}
