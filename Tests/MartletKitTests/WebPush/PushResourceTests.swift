import Foundation
import PushTesting
import Testing

@testable import MartletKit

@Suite("Messages of others", .timeLimit(.patience)) struct PushResourceTests {
    private static let id = "A0000000-0000-4000-8000-000000000001"

    /// An app that the provider knows.
    private func registered(
        role: Martlet.Configuration.Role = .app,
        _ answer: @escaping ScriptedTransport.Answer
    ) async throws -> TestApp {
        let app = try TestApp()
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        app.transport.answer(answer)
        guard role == .serviceExtension else { return app }
        return try TestApp(storage: app.storage, transport: app.transport, role: role)
    }

    private func notification(_ json: String) throws -> ReceivedNotification {
        try #require(ReceivedNotification(json: Data(json.utf8)))
    }

    @Test("An address is made for the installation")
    func made() async throws {
        let endpoint = "https://push.example.com/push/x"
        let app = try await self.registered { _ in
            .json(201, .object(["id": .string(Self.id), "endpoint": .string(endpoint), "name": "ada"]))
        }
        let resource = try await app.martlet.makePushResource(name: "ada", sender: Data([4, 255, 254]))
        #expect(resource.endpoint?.absoluteString == endpoint && resource.name == "ada")
        #expect(resource.id.uuidString == Self.id)
        let request = try #require(app.transport.requests.last)
        let installation = try #require(await app.martlet.status()?.installation.uuidString)
        let url = "https://push.example.com/v1/apps/com.example.App/installations/\(installation)/push-resources"
        #expect(request.method == "POST" && request.url.absoluteString == url)
        #expect(request.headers["installation-secret"] == "s1")
        #expect(JSONValue(json: request.body)?.object == ["name": "ada", "vapidKey": "BP_-"])
    }

    @Test("Addresses are listed and removed")
    func listed() async throws {
        let app = try await self.registered { request in
            switch request.method {
            case "GET":
                .json(
                    200,
                    .object(["pushResources": .array([.object(["id": .string(Self.id)]), .object(["id": "x"]), 7])])
                )
            default: .error(404, "no_such_push_resource")
            }
        }
        let resources = try await app.martlet.pushResources()
        #expect(resources.map(\.id.uuidString) == [Self.id])
        #expect(resources.first?.endpoint == nil && resources.first?.name == nil)
        // It is gone, whoever has removed it.
        try await app.martlet.removePushResource(try #require(resources.first?.id))
        #expect(app.transport.requests.last?.url.lastPathComponent == Self.id)
        #expect(app.transport.requests.last?.method == "DELETE")
    }

    @Test("Failures are named")
    func failures() async throws {
        let fresh = try TestApp()
        await #expect(throws: InstallationError.notRegistered) { try await fresh.martlet.pushResources() }
        #expect(fresh.transport.requests.isEmpty)
        let app = try await self.registered { _ in .error(409, "too_many_push_resources") }
        await #expect(throws: InstallationError.refused(code: "too_many_push_resources", message: "no")) {
            try await app.martlet.makePushResource()
        }
        app.transport.answer { _ in TransportResponse(status: 503, headers: ["retry-after": "7"]) }
        await #expect(throws: InstallationError.unavailable(reason: "status 503", retryAfter: .seconds(7))) {
            try await app.martlet.removePushResource(UUID())
        }
        app.transport.answer { _ in throw ScriptedTransport.Offline() }
        await #expect(throws: InstallationError.self) { try await app.martlet.pushResources() }
        app.transport.answer { _ in .json(201, .object(["id": .string(Self.id)])) }
        await #expect(throws: InstallationError.self) { try await app.martlet.makePushResource() }
    }

    @Test("A message is in its notification")
    func within() async throws {
        let app = try await self.registered(role: .serviceExtension) { _ in throw ScriptedTransport.Offline() }
        let frame = #""aps":{"alert":{"loc-key":"WP"},"mutable-content":1}"#
        let held = try self.notification("{\(frame),\"wp\":\"AAEC_w\",\"wpid\":\"ada\"}")
        let message = try await app.martlet.message(of: held)
        #expect(message?.body == Data([0, 1, 2, 255]) && message?.resource == "ada")
        let empty = try await app.martlet.message(of: self.notification(#"{"aps":{"content-available":1},"wp":""}"#))
        #expect(empty?.body == Data() && empty?.resource == nil)
        let long = String(repeating: "A", count: 4097 * 4)
        for member in [
            "\"x\":1", "\"wp\":7", "\"wp\":\"%%%\"", "\"wp\":\"\(long)\"", "\"wpref\":\"x\",\"wptoken\":\"y\"",
        ] {
            let none = try await app.martlet.message(of: self.notification("{\(frame),\(member)}"))
            #expect(none == nil, "\(member.prefix(40))")
        }
    }

    @Test("A message that did not fit is loaded")
    func loaded() async throws {
        let body = Data((0..<4096).map { UInt8($0 & 255) })
        let app = try await self.registered(role: .serviceExtension) { _ in TransportResponse(status: 200, body: body) }
        let notification = try self.notification(
            #"{"aps":{"alert":{"loc-key":"WP"},"mutable-content":1},"wpref":"\#(Self.id)","wptoken":"a-token","wpid":"ada"}"#
        )
        let message = try await app.martlet.message(of: notification)
        #expect(message?.body == body && message?.resource == "ada")
        let request = try #require(app.transport.requests.last)
        let url = "https://push.example.com/push/messages/\(Self.id.lowercased())"
        #expect(request.method == "GET" && request.url.absoluteString == url)
        // Its own token, and not the app's key.
        #expect(request.headers["authorization"] == "Bearer a-token")
        #expect(request.maximumResponse == 4096 && request.deadline == .seconds(5))
        app.transport.answer { _ in .error(404, "no_such_message") }
        await #expect(throws: InstallationError.refused(code: "no_such_message", message: "no")) {
            try await app.martlet.message(of: notification)
        }
    }
}
