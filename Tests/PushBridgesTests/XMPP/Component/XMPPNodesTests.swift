import Foundation
import ProviderAPI
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

@Suite(.timeLimit(.patience)) struct XMPPNodesTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    private func withApp(
        components: [String] = ["push.example.net", "push.example.org"],
        _ body: @escaping @Sendable (RunningProvider) async throws -> Void
    ) async throws {
        try await withProvider(senders: ScriptedSender(), addition: { try Bridges($0) }) { provider in
            try await provider.addVectorsApp()
            for name in components {
                // Nothing listens there.
                let settings: JSONValue = ["settings": ["host": "127.0.0.1", "port": 1], "secret": "secret"]
                _ = try await provider.api.put("\(Self.app)/bridges/xmpp/\(name)", settings)
            }
            try await body(provider)
        }
    }

    @Test func aBackEndMakesNodes() async throws {
        try await self.withApp { provider in
            let path = "\(Self.app)/xmpp-nodes"
            let made = try await provider.api.post(path, ["domain": "Example.org", "user": "ada", "account": "work"])
            #expect(made.status == 201)
            #expect(made.json["jid"] == "push.example.org")
            #expect(made.json["domain"] == "example.org")
            #expect(made.json["node"].stringValue?.utf8.count == 32)
            #expect(made.json["secret"].stringValue?.utf8.count == 32)
            let list = try await provider.api.get("\(path)?user=ada").json["nodes"].elements
            #expect(list.count == 1)
            #expect(list.first?["node"] == made.json["node"])
            #expect(list.first?["secret"].stringValue == nil)
            #expect(try await provider.api.get("\(path)?installation=ada").json["nodes"].elements.isEmpty)
            let node = try #require(made.json["node"].stringValue)
            #expect(try await provider.api.delete("\(path)/\(node)").status == 204)
            #expect(try await provider.api.delete("\(path)/\(node)").status == 404)
        }
    }

    @Test func theComponentIsChosen() async throws {
        try await self.withApp { provider in
            func component(_ domain: String, _ more: [String: JSONValue] = [:]) async throws -> JSONValue {
                let usual: [String: JSONValue] = ["domain": .string(domain), "user": "ada"]
                let response = try await provider.api.post(
                    "\(Self.app)/xmpp-nodes",
                    .object(usual.merging(more) { $1 })
                )
                return response.json["jid"]
            }
            let own = try await component("example.org")
            #expect(own == "push.example.org")
            #expect(try await component("elsewhere.example") == "push.example.net")
            #expect(try await component("example.net", ["component": "push.example.org"]) == "push.example.org")
        }
    }

    @Test func whatCannotBeIsRefused() async throws {
        try await self.withApp { provider in
            for body in [
                ["domain": "example.org"], ["user": "ada"], ["domain": "a@b", "user": "ada"],
                ["domain": "example.org", "user": "ada", "installation": "phone-001"],
                ["domain": "example.org", "user": "ada", "component": "push.example.com"],
                ["domain": "example.org", "user": "ada", "odd": 1],
            ] as [JSONValue] {
                let response = try await provider.api.post("\(Self.app)/xmpp-nodes", body)
                #expect((400..<500).contains(response.status), "\(body)")
            }
            #expect(try await provider.api.get("\(Self.app)/xmpp-nodes").status >= 400)
        }
        try await self.withApp(components: []) { provider in
            let response = try await provider.api.post(
                "\(Self.app)/xmpp-nodes",
                ["domain": "example.org", "user": "ada"]
            )
            #expect(response.status == 409)
        }
    }

    @Test func anAppMakesNodesForItsOwnInstallation() async throws {
        try await self.withApp { provider in
            let key: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
            let issued = try await provider.api.post("/v1/keys", key)
            var api = provider.api
            api.apiKey = issued.json["key"].stringValue
            let installation = "\(Self.app)/installations/phone-001"
            let registered = try await api.put(
                installation,
                ["token": .string(Vectors.tokenA), "environment": "sandbox"]
            )
            let secret = try #require(registered.json["secret"].stringValue)
            let path = "\(installation)/xmpp-nodes"
            let body: JSONValue = ["domain": "example.org"]
            #expect(try await api.post(path, body).status == 403)
            #expect(try await api.post(path, body, headers: ["installation-secret": "x"]).status == 403)
            let made = try await api.post(path, body, headers: ["installation-secret": secret])
            #expect(made.status == 201)
            let node = try #require(made.json["node"].stringValue)
            // A public key makes none for others.
            let others: JSONValue = ["domain": "example.org", "installation": "phone-002"]
            #expect(try await api.post("\(Self.app)/xmpp-nodes", others).status == 403)
            let wrong = "\(Self.app)/installations/phone-002/xmpp-nodes/\(node)"
            #expect(try await api.call("DELETE", wrong, nil, headers: ["installation-secret": secret]).status == 403)
            let list = try await api.call("GET", path, nil, headers: ["installation-secret": secret]).json["nodes"]
                .elements
            #expect(list.count == 1)
            #expect(
                try await api.call("DELETE", "\(path)/\(node)", nil, headers: ["installation-secret": secret]).status
                    == 204
            )
        }
    }
}
