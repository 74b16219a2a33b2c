import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// What a registration over XMPP promises of pushes in memory (docs/decisions/0051).
@Suite(.timeLimit(.patience)) struct ComponentTakingBackTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let first = String(repeating: "a1", count: 32)

    /// Runs a provider with a component that registers devices in the sandbox.
    private func withComponent(
        _ sender: ScriptedSender,
        _ body: @escaping @Sendable (RunningProvider, TestComponentLink) async throws -> Void
    ) async throws {
        try await TestComponentServer.run { server in
            try await withProvider(senders: sender, addition: { try Bridges($0) }) { provider in
                try await provider.addVectorsApp()
                let settings: JSONValue = [
                    "host": "127.0.0.1", "port": .integer(Int64(server.port)), "registration": ["p2"],
                ]
                let bridge: JSONValue = ["settings": settings, "secret": "secret", "environment": "sandbox"]
                let path = "\(Self.app)/bridges/xmpp/push.example.org"
                #expect(try await provider.api.put(path, bridge).status == 200)
                try await body(provider, try await server.accept())
            }
        }
    }

    /// Registers a client's device with the token of the vectors, or ends its registration.
    private static func command(_ node: String, over link: TestComponentLink) async throws {
        let fields = DataForm(["token": Vectors.tokenA, "device-id": "phone"]).element(type: "submit").xml()
        let command = "<command xmlns='http://jabber.org/protocol/commands' action='execute' node='\(node)'>"
        link.send("<iq type='set' from='ada@example.com/x' id='r'>\(command)\(fields)</command></iq>")
        #expect(try await link.stanza()["type"] == "result")
    }

    /// The first push to a user is in flight, and the second waits in the same page for its turn. Meanwhile its token goes
    /// to an installation of nobody's, or its device goes.
    @Test(arguments: ["register-push-apns", "unregister-push-apns"])
    func aPushToADeviceThatTheUserLostIsNotSent(node: String) async throws {
        let (sender, gate) = (ScriptedSender(), Gate())
        try await self.withComponent(sender) { provider, link in
            defer { gate.open() }
            sender.onSend { _ in await gate.pass() }
            _ = try await provider.register(Self.first, ["user": "ada"])
            if node == "unregister-push-apns" { try await Self.command("register-push-apns", over: link) }
            _ = try await provider.register(Vectors.tokenA, ["user": "ada"])
            if node == "register-push-apns" {
                _ = try await provider.register(Vectors.tokenA, ["installation": "phone-001"])
            }
            let push: JSONValue = [
                "to": ["user": "ada"], "alert": "Hi", "environment": "sandbox", "urgent": false,
            ]
            let id = try #require(try await provider.send(push).json["id"].stringValue)
            try await eventually { !sender.sent.isEmpty }
            try await Self.command(node, over: link)
            gate.open()
            try await eventually {
                try await provider.api.get("/v1/notifications/\(id)").json["counters"]["accepted"] == 1
            }
            #expect(sender.sent.map(\.token.hex) == [Self.first])
        }
    }
}
