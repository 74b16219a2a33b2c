import Foundation
import PushTesting
import Testing

@testable import MartletKit

@Suite("The waits of an app", .timeLimit(.patience)) struct MartletWaitTests {
    private static func notification() throws -> ReceivedNotification {
        let text = #"{"aps":{"alert":"Hi"},"martlet":{"id":"\#(UUID().uuidString)","receipts":"device"}}"#
        return try #require(ReceivedNotification(json: Data(text.utf8)))
    }

    /// The storage of an app that is registered.
    private static func registered() async throws -> MemoryStorage {
        let app = try TestApp()
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        return app.storage
    }

    @Test(
        "A provider that says nothing does not hold up what the system waits for",
        arguments: [Arrival.background, .dismissed, .action("A"), .serviceExtension]
    )
    func silentProvider(arrival: Arrival) async throws {
        let isExtension = arrival == .serviceExtension
        let app = try TestApp(
            storage: try await Self.registered(),
            role: isExtension ? .serviceExtension : .app,
            endsWaits: true
        )
        app.transport.fallSilent()
        _ = await app.martlet.receive(try Self.notification(), arrival)
        #expect(app.waits.count == 1 && app.waits.allSatisfy { $0 <= .seconds(isExtension ? 2 : 20) })
    }

    @Test("The time that the app's own work took is taken off the wait, and the app can set it")
    func handlerTime() async throws {
        let app = try TestApp(storage: try await Self.registered(), endsWaits: true, receiveTimeout: .zero)
        app.transport.fallSilent()
        _ = await app.martlet.receive(try Self.notification(), .background)
        #expect(app.waits.allSatisfy { $0 <= .zero })
    }

    @Test("A caller that is cancelled does not wait for the provider")
    func cancellation() async throws {
        let app = try TestApp(storage: try await Self.registered())
        app.transport.fallSilent()
        let notification = try Self.notification()
        let (receiving, sending) = (
            Task { _ = await app.martlet.receive(notification, .dismissed) },
            Task { await app.martlet.synchronize() }
        )
        try await eventually { !app.transport.requests.isEmpty }
        receiving.cancel()
        sending.cancel()
        await receiving.value
        await sending.value
        // One that was cancelled before does not wait either.
        await sending.value
        #expect(await app.martlet.status()?.waitingReceipts == 3)
    }

    @Test("All who wait for the same sending go on when it ends")
    func together() async throws {
        let app = try TestApp(storage: try await Self.registered())
        _ = await app.martlet.receive(try Self.notification(), .foreground)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { await app.martlet.synchronize() } }
        }
        #expect(await app.martlet.status()?.waitingReceipts == 0)
    }

    @Test("A wait that the provider asks for holds for every process of the extension, and for the app")
    func sharedBackOff() async throws {
        let storage = try await Self.registered()
        for _ in 0..<3 {
            let transport = ScriptedTransport { _ in TransportResponse(status: 429, headers: ["retry-after": "600"]) }
            let app = try TestApp(storage: storage, transport: transport, role: .serviceExtension)
            _ = await app.martlet.receive(try Self.notification(), .serviceExtension)
            #expect(transport.requests.count == (storage.all.keys.contains("tries") ? 0 : 1))
            try storage.write(Data(), for: "tries")
        }
        let app = try TestApp(storage: storage)
        await app.martlet.synchronize()
        #expect(app.transport.requests.isEmpty)
        app.advance(by: 700)
        await app.martlet.synchronize()
        #expect(app.transport.bodies("POST").count == 1 && storage.value("outbox") == nil)
    }

    @Test(
        "Receipts from before the first unlock are kept, and judged when the user's choice can be read",
        arguments: ReceiptPrivacy.allCases
    )
    func firstUnlock(privacy: ReceiptPrivacy) async throws {
        let storage = try await Self.registered()
        let before = try TestApp(storage: storage)
        try await before.martlet.setReceiptPrivacy(privacy)
        storage.fail()
        let app = try TestApp(storage: storage)
        _ = await app.martlet.receive(try Self.notification(), .background)
        storage.fail(false)
        await app.martlet.synchronize()
        #expect(
            app.transport.bodies("POST").map { $0["privacy"] } == (privacy == .none ? [] : [.string(privacy.rawValue)])
        )
        #expect(storage.all.keys.contains { $0.hasPrefix("receipt-") } == (privacy != .none))
    }

    @Test("What waits in memory does not survive leaving")
    func leavingLocked() async throws {
        let app = try TestApp(storage: try await Self.registered())
        #expect(await app.martlet.status() != nil)
        app.storage.fail()
        _ = await app.martlet.receive(try Self.notification(), .background)
        app.storage.fail(false)
        try await app.martlet.unregister()
        await app.martlet.synchronize()
        #expect(app.storage.all.keys.sorted() == ["state"])
    }

    @Test("Receipts for another provider are removed")
    func otherProvider() async throws {
        let storage = try await Self.registered()
        let offline = try TestApp(
            storage: storage,
            transport: ScriptedTransport { _ in throw ScriptedTransport.Offline() }
        )
        _ = await offline.martlet.receive(try Self.notification(), .background)
        #expect(storage.all.keys.contains { $0.hasPrefix("receipt-") })
        let app = try TestApp(storage: storage, provider: "https://other.example.com")
        await app.martlet.synchronize()
        #expect(app.transport.bodies("POST").isEmpty && app.transport.bodies().count == 1)
        #expect(storage.all.keys.sorted() == ["state"])
    }
}
