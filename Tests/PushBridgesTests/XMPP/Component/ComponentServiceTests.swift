import Foundation
import NIOCore
import ProviderAPI
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// A provider and its XMPP servers.
@Suite(.timeLimit(.patience)) struct ComponentServiceTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let bridge = "\(Self.app)/bridges/xmpp/push.example.org"

    /// A provider with the vectors' app, one device of the installation `phone-001`, and a component at a server.
    private func withComponent(
        _ settings: [String: JSONValue] = [:],
        time: any TimeSource = SystemTime(),
        _ body: @escaping @Sendable (RunningProvider, ScriptedSender, TestComponentServer) async throws -> Void
    ) async throws {
        let sender = ScriptedSender()
        try await TestComponentServer.run { server in
            try await withProvider(senders: sender, time: time, addition: { try Bridges($0) }) { provider in
                try await provider.addVectorsApp()
                _ = try await provider.register(Vectors.tokenA, ["installation": "phone-001", "user": "ada"])
                try await Self.set(provider, server, settings)
                try await body(provider, sender, server)
            }
        }
    }

    private static func set(
        _ provider: RunningProvider,
        _ server: TestComponentServer,
        _ settings: [String: JSONValue] = [:],
        secret: String = "secret",
        environment: String? = nil
    ) async throws {
        var all = settings
        (all["host"], all["port"]) = ("127.0.0.1", .integer(Int64(server.port)))
        var body: [String: JSONValue] = ["settings": .object(all), "secret": .string(secret)]
        body["environment"] = environment.map { .string($0) }
        let response = try await provider.api.put(Self.bridge, .object(body))
        #expect(response.status == 200)
    }

    private struct Node: Sendable {
        var node, secret: String
    }

    private static func addNode(_ provider: RunningProvider, _ more: [String: JSONValue] = [:]) async throws -> Node {
        let usual: [String: JSONValue] = ["domain": "example.com", "installation": "phone-001"]
        let response = try await provider.api.post("\(Self.app)/xmpp-nodes", .object(usual.merging(more) { $1 }))
        #expect(response.status == 201)
        #expect(response.json["jid"] == "push.example.org")
        let (node, secret) = (response.json["node"].stringValue, response.json["secret"].stringValue)
        return Node(node: try #require(node), secret: try #require(secret))
    }

    private static func publish(_ node: Node, id: String = "n12", body: String? = "New Message!") -> String {
        let field = body.map { "<field var='last-message-body'><value>\($0)</value></field>" } ?? ""
        return """
            <iq type='set' from='example.com' to='push.example.org' id='\(id)'>\
            <pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node='\(node.node)'><item>\
            <notification xmlns='urn:xmpp:push:0'><x xmlns='jabber:x:data' type='form'>\(field)</x></notification>\
            </item></publish><publish-options><x xmlns='jabber:x:data' type='submit'>\
            <field var='secret'><value>\(node.secret)</value></field></x></publish-options></pubsub></iq>
            """
    }

    private static func condition(_ answer: XMLElement) -> String? { answer.children.first?.children.first?.name }

    private static func sent(_ sender: ScriptedSender, count: Int = 1) async throws -> [ScriptedSender.Sent] {
        try await eventually { sender.sent.count >= count }
        return sender.sent
    }

    /// Vectors X2 and X3.
    @Test func aPublishBecomesAPush() async throws {
        try await self.withComponent { provider, sender, server in
            let link = try await server.accept()
            let node = try await Self.addNode(provider, ["account": "work"])
            link.send(Self.publish(node))
            let answer = try await link.stanza()
            #expect(
                answer.attributes == ["type": "result", "id": "n12", "from": "push.example.org", "to": "example.com"]
            )
            let alert = try #require(try await Self.sent(sender).first)
            #expect(alert.token.hex == Vectors.tokenA)
            #expect(alert.notification.pushType == .alert)
            #expect(alert.notification.priority == .immediate)
            let payload = try JSONValue(parsing: Data(alert.notification.payload.readableBytesView))
            #expect(payload["aps"]["alert"]["title"] == "New message")
            #expect(payload["account"] == "work")
            let list = try await provider.api.get("\(Self.app)/notifications").json["notifications"].elements
            let id = try #require(list.first?["id"].stringValue)
            #expect(try await provider.finished(id)["counters"]["accepted"] == 1)

            let other = try await Self.addNode(provider)
            link.send(Self.publish(other, id: "n13", body: nil))
            #expect(try await link.stanza()["id"] == "n13")
            let background = try #require(try await Self.sent(sender, count: 2).last)
            #expect(background.notification.pushType == .background)
        }
    }

    /// Vectors X4 and X5.
    @Test func whatIsKnownForCertainEndsARegistration() async throws {
        try await self.withComponent { provider, sender, server in
            let link = try await server.accept()
            let node = try await Self.addNode(provider)
            link.send(Self.publish(Node(node: node.node, secret: "s-B")))
            #expect(Self.condition(try await link.stanza()) == "forbidden")
            link.send(Self.publish(node).replacing("from='example.com'", with: "from='evil.example'"))
            #expect(Self.condition(try await link.stanza()) == "forbidden")
            link.send(Self.publish(Node(node: "n-B", secret: "s-B")))
            #expect(Self.condition(try await link.stanza()) == "item-not-found")
            _ = try await provider.api.delete("\(Self.app)/devices/\(Vectors.tokenA)")
            link.send(Self.publish(node))
            #expect(Self.condition(try await link.stanza()) == "item-not-found")
            _ = try await provider.register(Vectors.tokenA, ["installation": "phone-001"])
            link.send(Self.publish(node))
            #expect(try await link.stanza()["type"] == "result")
            _ = try await provider.api.delete("\(Self.app)/xmpp-nodes/\(node.node)")
            link.send(Self.publish(node))
            #expect(Self.condition(try await link.stanza()) == "item-not-found")
            #expect(try await Self.sent(sender).count == 1)
        }
    }

    @Test func aDeviceOfTheOtherEnvironmentIsNotGone() async throws {
        try await self.withComponent { provider, sender, server in
            let first = try await server.accept()
            let token = String(repeating: "b7", count: 32)
            _ = try await provider.register(token, ["installation": "phone-002", "environment": "sandbox"])
            let node = try await Self.addNode(provider, ["installation": "phone-002"])
            try await Self.set(provider, server, environment: "production")
            #expect(await first.next() == .streamEnd)
            let link = try await server.accept()
            link.send(Self.publish(node))
            let answer = try await link.stanza()
            #expect(answer.children.first?["type"] == "wait")
            _ = try await provider.api.delete("\(Self.app)/devices/\(token)")
            link.send(Self.publish(node, id: "n13"))
            #expect(Self.condition(try await link.stanza()) == "item-not-found")
            #expect(sender.sent.isEmpty)
        }
    }

    @Test func aBurstIsAnsweredAndCoalesced() async throws {
        // All of it is within the interval, however long it takes.
        try await self.withComponent(time: ManualTime()) { provider, sender, server in
            let link = try await server.accept()
            let node = try await Self.addNode(provider, ["installation": .null, "user": "ada"])
            for number in 0..<10 {
                link.send(Self.publish(node, id: "n\(number)"))
                let answer = try await link.stanza()
                #expect(answer["type"] == "result" && answer["id"] == "n\(number)")
            }
            // One at once, and one that waits for the end of the interval.
            let list = try await provider.api.get("\(Self.app)/notifications").json["notifications"].elements
            #expect(list.count == 2)
        }
    }

    @Test func theLinkComesBack() async throws {
        try await self.withComponent { provider, sender, server in
            let node = try await Self.addNode(provider)
            let first = try await server.accept()
            await first.close()
            let second = try await server.accept()
            second.send(
                "<stream:error><system-shutdown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error></stream:stream>"
            )
            let third = try await server.accept()
            third.send(Self.publish(node))
            #expect(try await third.stanza()["type"] == "result")
            _ = try await Self.sent(sender)
        }
    }

    @Test func changesApplyWithoutARestart() async throws {
        try await self.withComponent { provider, _, server in
            let first = try await server.accept()
            try await Self.set(provider, server, secret: "another")
            #expect(await first.next() == .streamEnd)
            #expect(await first.next() == nil)
            let second = try await server.accept(secret: "another")
            _ = try await provider.api.delete(Self.bridge)
            #expect(await second.next() == .streamEnd)
        }
    }

    @Test func thereAreSeveralServersAtATime() async throws {
        try await TestComponentServer.run { other in
            try await self.withComponent { provider, sender, server in
                let settings: JSONValue = [
                    "secret": "secret", "settings": ["host": "127.0.0.1", "port": .integer(Int64(other.port))],
                ]
                _ = try await provider.api.put("\(Self.app)/bridges/xmpp/push.example.net", settings)
                let (first, second) = (try await server.accept(), try await other.accept())
                let node = try await Self.addNode(provider, ["component": "push.example.org"])
                // A node is at one component.
                second.send(Self.publish(node).replacing("push.example.org", with: "push.example.net"))
                #expect(Self.condition(try await second.stanza()) == "item-not-found")
                first.send(Self.publish(node))
                #expect(try await first.stanza()["type"] == "result")
            }
        }
    }

    @Test func shutdownClosesTheStream() async throws {
        try await TestComponentServer.run { server in
            let link = try await withProvider(senders: ScriptedSender(), addition: { try Bridges($0) }) { provider in
                try await provider.addVectorsApp()
                try await Self.set(provider, server)
                return try await server.accept()
            }
            #expect(await link.next() == .streamEnd)
        }
    }

    @Test func aSecretIsNotSentInTheClear() async throws {
        let certificate = try SelfSignedCertificate.shared.get()
        try await TestComponentServer.run(tls: try certificate.server) { server in
            try await withProvider(senders: ScriptedSender(), addition: { try Bridges($0) }) { provider in
                try await provider.addVectorsApp()
                try await Self.set(provider, server, ["tls": "direct", "trust": .string(certificate.pem)])
                let link = try await server.accept()
                link.send("<iq type='get' from='example.com' id='1'><ping xmlns='urn:xmpp:ping'/></iq>")
                #expect(try await link.stanza()["type"] == "result")
            }
        }
    }

    /// Vector X7.
    @Test func clientsRegisterThemselves() async throws {
        try await self.withComponent(["registration": ["p2"]]) { provider, _, server in
            let link = try await server.accept()
            func register(_ token: String) async throws -> [String: String] {
                let fields = DataForm(["token": token, "device-id": "phone"]).element(type: "submit").xml()
                let command =
                    "<command xmlns='http://jabber.org/protocol/commands' action='execute' node='register-push-apns'>"
                link.send("<iq type='set' from='ada@example.com/x' id='r'>\(command)\(fields)</command></iq>")
                let answer = try await link.stanza()
                return DataForm(answer.children.first?.children.first)?.fields ?? [:]
            }
            let first = try await register(Vectors.tokenA)
            #expect(first["jid"] == "push.example.org")
            let tokenB = String(repeating: "b7", count: 32)
            #expect(try await register(tokenB) == first)
            let node = Node(node: try #require(first["node"]), secret: try #require(first["secret"]))
            link.send(Self.publish(node))
            #expect(try await link.stanza()["type"] == "result")
            let devices = try await provider.api.get("\(Self.app)/devices/\(tokenB)").json["devices"].elements
            #expect(devices.count == 1)
        }
    }
}
