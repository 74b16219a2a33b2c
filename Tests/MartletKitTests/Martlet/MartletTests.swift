import Foundation
import PushTesting
import Testing

@testable import MartletKit

@Suite("The app's side of push", .timeLimit(.patience)) struct MartletTests {
    @Test("An app registers once, and again when something changes")
    func registration() async throws {
        let app = try TestApp()
        try await app.martlet.updateProfile(
            DeviceProfile(
                locale: "pt-BR",
                timeZone: "Europe/Berlin",
                appVersion: "1.2",
                capabilities: [.alert, .badge]
            )
        )
        await app.martlet.synchronize()
        #expect(app.transport.requests.isEmpty)
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        try await app.martlet.register(token: TestApp.token)
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
        try await app.martlet.updateProfile(DeviceProfile(capabilities: [.alert, .badge, .sound, .background]))
        await app.martlet.synchronize()
        #expect(app.transport.bodies().last?["capabilities"] == .array(["alert", "badge", "sound", "background"]))
        #expect(app.transport.bodies().last?["secret"] == "s1")
        #expect(app.transport.requests.count == 2)
    }

    @Test("Receipts of what arrives are made once and sent together")
    func receipts() async throws {
        let app = try TestApp()
        try await app.martlet.register(token: TestApp.token)
        let id = "0A1B2C3D-0000-4000-8000-00000000000F"
        let text = #"{"aps":{"alert":"Hi"},"martlet":{"id":"\#(id)","receipts":"device"}}"#
        let notification = try #require(ReceivedNotification(json: Data(text.utf8)))
        let reception = await app.martlet.receive(notification, .foreground)
        #expect(reception.presentation == .all)
        _ = await app.martlet.receive(notification, .opened)
        _ = await app.martlet.receive(notification, .launch)
        _ = await app.martlet.receive(notification, .action("REPLY", text: "secret words"))
        try await app.martlet.recordConversion(of: try #require(notification.id), name: "bought")
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

    @Test("What cannot be sent is kept over a restart, merged, and sent later")
    func offline() async throws {
        let app = try TestApp(transport: ScriptedTransport { _ in throw ScriptedTransport.Offline() })
        try await app.martlet.updateProfile(DeviceProfile(locale: "de"))
        try await app.martlet.register(token: TestApp.token)
        try await app.martlet.setTags(["a"])
        try await app.martlet.setTags(["b"])
        try await app.martlet.setAttribute("team", to: "red")
        try await app.martlet.attach(userProof: "jwt")
        try await app.martlet.detach()
        try await app.martlet.setPreferences(
            NotificationPreferences(optOuts: ["marketing"], quietHours: .init(from: "22:00", to: "07:00"))
        )
        await app.martlet.synchronize()
        let tries = app.transport.requests.count
        await app.martlet.synchronize()
        #expect(app.transport.requests.count == tries && tries > 0)
        #expect(app.events.contains { if case .retry = $0 { true } else { false } })
        let later = try TestApp(storage: app.storage, at: TestApp.start + 3600)
        await later.martlet.synchronize()
        let bodies = later.transport.bodies()
        #expect(bodies.count == 1)
        #expect(bodies.first?["tags"] == .array(["b"]) && bodies.first?["attributes"] == .object(["team": "red"]))
        #expect(bodies.first?["userProof"] == .null && bodies.first?["locale"] == "de")
        let hours: JSONValue = .object(["from": "22:00", "to": "07:00"])
        #expect(bodies.first?["preferences"] == .object(["optOuts": .array(["marketing"]), "quietHours": hours]))
        #expect(await later.martlet.status()?.preferences.optOuts == ["marketing"])
        let installations = Set((app.transport.requests + later.transport.requests).map(\.url))
        #expect(installations.count == 1)
    }

    @Test("The app and its extension share the storage: each receipt is made once, by whichever comes first")
    func sharing() async throws {
        let app = try TestApp()
        try await app.martlet.updateProfile(DeviceProfile(capabilities: [.alert]))
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        let other = try TestApp(storage: app.storage, role: .serviceExtension)
        let notification = try Self.notification()
        _ = await other.martlet.receive(notification, .serviceExtension)
        #expect(Self.receipts(other) == ["delivered", "shown"])
        #expect(other.transport.requests.last?.headers["installation-secret"] == "s1")
        _ = await app.martlet.receive(notification, .opened)
        await app.martlet.synchronize()
        #expect(Self.receipts(app) == ["opened"])
        // Offline, the extension leaves its receipts to the app.
        other.transport.answer { _ in throw ScriptedTransport.Offline() }
        _ = await other.martlet.receive(try Self.notification(UUID()), .serviceExtension)
        app.advance(by: 10)
        await app.martlet.synchronize()
        #expect(Self.receipts(app) == ["delivered", "opened", "shown"])
        #expect(await other.martlet.status()?.waitingReceipts == 0)
        // It changes nothing else.
        let state = app.storage.value("state")
        await #expect(throws: Martlet.UsageError.serviceExtension) {
            try await other.martlet.register(token: TestApp.token)
        }
        await #expect(throws: Martlet.UsageError.serviceExtension) { try await other.martlet.unregister() }
        #expect(app.storage.value("state") == state)
    }

    @Test("Levels of privacy: the strictest of notification, user and now holds")
    func privacy() async throws {
        let app = try TestApp()
        _ = await app.martlet.receive(try Self.notification(privacy: "counts"), .background)
        _ = await app.martlet.receive(try Self.notification(UUID(), privacy: nil), .background)
        #expect(await app.martlet.status()?.waitingReceipts == 1)
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        #expect(app.transport.bodies("POST").map { $0["privacy"] } == ["counts"])
        try await app.martlet.setReceiptPrivacy(.none)
        _ = await app.martlet.receive(try Self.notification(UUID()), .opened)
        await app.martlet.synchronize()
        #expect(app.transport.bodies("POST").count == 1)
        #expect(app.storage.all.keys.filter { $0.hasPrefix("receipt-") }.count == 1)
    }

    @Test("A storage that cannot be read yet loses no change, and keeps the installation")
    func lockedStorage() async throws {
        let app = try TestApp()
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        let installation = try #require(await app.martlet.status()?.installation)
        app.storage.fail(true)
        let locked = try TestApp(storage: app.storage)
        try await locked.martlet.setTags(["a"])
        _ = await locked.martlet.receive(try Self.notification(), .background)
        await locked.martlet.synchronize()
        #expect(await locked.martlet.status() == nil && locked.transport.requests.isEmpty)
        #expect(locked.events.contains { if case .storageFailed = $0 { true } else { false } })
        app.storage.fail(false)
        await locked.martlet.synchronize()
        #expect(locked.transport.bodies().map { $0["tags"] } == [.array(["a"])])
        #expect(Self.receipts(locked) == ["delivered"])
        #expect(await locked.martlet.status()?.installation == installation)
    }

    @Test("A receipt that the storage does not take waits in memory, and is stored later")
    func fullStorage() async throws {
        let app = try TestApp(transport: ScriptedTransport { _ in throw ScriptedTransport.Offline() })
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        app.storage.fail(true)
        _ = await app.martlet.receive(try Self.notification(), .background)
        app.storage.fail(false)
        #expect(await app.martlet.status()?.waitingReceipts == 1)
        #expect(app.storage.all.keys.contains { $0.hasPrefix("receipt-") })
    }

    @Test(
        "A state that is garbage is a new installation",
        arguments: ["", "{}", "[1]", #"{"installation":7}"#, "\u{0}\u{1}"]
    )
    func garbageState(text: String) async throws {
        let storage = MemoryStorage()
        try storage.write(Data(text.utf8), for: "state")
        try storage.write(Data(text.utf8), for: "receipt-garbage")
        let app = try TestApp(storage: storage)
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        #expect(app.transport.bodies().count == 1)
        #expect(await app.martlet.status()?.isConfirmed == true)
        // Nobody knows any more what the user allowed.
        #expect(await app.martlet.status()?.receiptPrivacy == ReceiptPrivacy.none)
        #expect(app.events.contains { $0.description.contains("the state is damaged") })
    }

    @Test("A secret that the provider does not accept is asked for anew, and then the receipts are sent")
    func refusedSecret() async throws {
        let app = try TestApp()
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        app.transport.answer { request in
            if request.method == "PUT" { return .json(200, .object(["secret": "s2"])) }
            return request.headers["installation-secret"] == "s2"
                ? .usual(request) : .error(403, "not_own_installation", "installation-secret")
        }
        _ = await app.martlet.receive(try Self.notification(), .background)
        await app.martlet.synchronize()
        app.advance(by: 10)
        await app.martlet.synchronize()
        #expect(await app.martlet.status()?.waitingReceipts == 0)
        #expect(app.transport.bodies().count == 2)
    }

    @Test("The handler of the app answers, and what it does not answer has a default")
    func handlers() async throws {
        struct Handler: NotificationHandler {
            func presentation(of notification: ReceivedNotification) async -> Presentation { .badge }
            func fetch(for notification: ReceivedNotification) async -> FetchResult { .failed }
            func open(_ notification: ReceivedNotification) async {}
            func perform(_ action: String, text: String?, of notification: ReceivedNotification) async {}
        }
        let (app, plain) = (try TestApp(handler: Handler()), try TestApp())
        try await app.martlet.register(token: TestApp.token)
        let notification = try Self.notification()
        #expect(await app.martlet.receive(notification, .foreground).presentation == .badge)
        #expect(await app.martlet.receive(notification, .background).fetchResult == .failed)
        #expect(await plain.martlet.receive(notification, .foreground).presentation == .all)
        #expect(await plain.martlet.receive(notification, .background).fetchResult == .noData)
        // A badge alone was not seen.
        #expect(Self.receipts(app) == ["delivered"])
    }

    @Test("Leaving removes the installation, its receipts and what the user decided")
    func leaving() async throws {
        let app = try TestApp()
        try await app.martlet.register(token: TestApp.token)
        try await app.martlet.setPreferences(NotificationPreferences(optOuts: ["news"]))
        _ = await app.martlet.receive(try Self.notification(), .background)
        try await app.martlet.unregister()
        await app.martlet.synchronize()
        let request = try #require(app.transport.requests.last)
        #expect(request.method == "DELETE" && request.headers["installation-secret"] == "s1")
        #expect(app.storage.all.keys.sorted() == ["state"])
        #expect(await app.martlet.status()?.preferences == NotificationPreferences())
        #expect(app.events.contains(.removed))
    }

    @Test("Leaving removes an installation whose first response was lost")
    func leavingEarly() async throws {
        let app = try TestApp(transport: ScriptedTransport { _ in throw ScriptedTransport.Offline() })
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        let later = try TestApp(storage: app.storage, at: TestApp.start + 3600)
        try await later.martlet.unregister()
        await later.martlet.synchronize()
        #expect(later.transport.requests.map(\.method) == ["PUT", "DELETE"])
        #expect(later.transport.requests.last?.headers["installation-secret"] == "s1")
        #expect(later.events == [.removed])
        // The state that says so is stored.
        let last = try TestApp(storage: app.storage, at: TestApp.start + 7200)
        await last.martlet.synchronize()
        #expect(last.transport.requests.isEmpty)
    }

    @Test("Answers that are none of a provider never end the app, and lose nothing")
    func strangeAnswers() async throws {
        let answers: [TransportResponse] = [
            .init(status: 200, body: Data("<html>".utf8)), .init(status: 200), .json(200, .array([])),
            .init(status: 301),
            .json(200, .object(["secret": .string(String(repeating: "s", count: 500))])), .init(status: 404),
            .init(status: 0), .init(status: -1), .init(status: 999), .json(400, .object(["error": "x"])),
            .init(status: 503, headers: ["retry-after": "99999999999999999999"]),
            .init(status: 429, headers: ["retry-after": "-5"]), .init(status: 500, body: Data(count: 100_000)),
        ]
        for answer in answers {
            let app = try TestApp(transport: ScriptedTransport { _ in answer })
            try await app.martlet.register(token: TestApp.token)
            await app.martlet.synchronize()
            #expect(app.transport.requests.count == 1)
            let later = try TestApp(storage: app.storage, at: TestApp.start + 25 * 3600)
            await later.martlet.synchronize()
            #expect(await later.martlet.status()?.isConfirmed == true)
        }
    }

    @Test("What failed is tried again by itself, after waits")
    func retries() async throws {
        let transport = ScriptedTransport { .usual($0) }
        transport.answer { [unowned transport] request in
            guard transport.requests.count > 4 else { throw ScriptedTransport.Offline() }
            return .usual(request)
        }
        let app = try TestApp(transport: transport, retries: true)
        try await app.martlet.register(token: TestApp.token)
        for await event in app.reported { if case .registered = event { break } }
        #expect(transport.requests.count == 5)
        #expect(app.events.count { if case .retry = $0 { true } else { false } } == 4)
    }

    // MARK: - Helpers

    private static func notification(
        _ id: UUID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
        privacy: String? = "device"
    ) throws -> ReceivedNotification {
        let receipts = privacy.map { #","receipts":"\#($0)""# } ?? ""
        let text = #"{"aps":{"alert":"Hi"},"martlet":{"id":"\#(id.uuidString)"\#(receipts)}}"#
        return try #require(ReceivedNotification(json: Data(text.utf8)))
    }

    /// The events of all receipts that an app has sent.
    private static func receipts(_ app: TestApp) -> [String] {
        app.transport.bodies("POST").flatMap { $0["receipts"]?.array ?? [] }
            .compactMap { $0.object?["event"]?.string }.sorted()
    }
}
