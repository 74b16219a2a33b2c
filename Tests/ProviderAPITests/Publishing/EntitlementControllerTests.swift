import Foundation
import ProviderAPI
import PushProvider
import PushSupport
import PushTesting
import Testing

/// The publisher's server of an app, over the API.
@Suite(.timeLimit(.patience)) struct EntitlementControllerTests {
    static let path = "/v1/apps/\(Vectors.bundleID)/entitlement"

    @Test func aServerShowsItsSecretOnce() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            #expect(try await provider.api.get(Self.path).code == "no_entitlement_server")
            #expect(try await provider.api.delete(Self.path).code == "no_entitlement_server")
            let set = try await provider.api.put(Self.path, ["url": "https://Publisher.example.com/check"])
            #expect(set.status == 200)
            #expect(set.json["secret"].stringValue?.hasPrefix("whsec_") == true)
            #expect(set.json["form"] == "json" && set.json["whenDown"] == "allowKnown")
            let shown = try await provider.api.get(Self.path)
            #expect(shown.json["url"] == "https://publisher.example.com:443/check")
            #expect(shown.json["secret"] == .null)
            let changed = try await provider.api.put(
                Self.path,
                ["url": "https://publisher.example.com/", "form": "xml", "whenDown": "refuse"]
            )
            #expect(changed.json["secret"] == .null, "it stays")
            #expect(changed.json["form"] == "xml" && changed.json["whenDown"] == "refuse")
            let own = try await provider.api.put(
                Self.path,
                ["url": "https://publisher.example.com/", "secret": "a-secret-of-the-publisher"]
            )
            #expect(own.status == 200 && own.json["secret"] == .null)
            #expect(try await provider.api.delete(Self.path).status == 204)
            #expect(try await provider.api.get(Self.path).status == 404)
        }
    }

    @Test(arguments: [
        ("url", "http://publisher.example.com/"), ("url", "https://127.0.0.1/"), ("url", "https://localhost/"),
        ("url", "https://10.0.0.1/"), ("url", "https://user:pw@example.com/"), ("url", ""), ("form", "yaml"),
        ("whenDown", "panic"), ("secret", "short"), ("secret", "with spaces in the text"),
        ("secret", "mit Umlauten äöü äöü"), ("other", "x"),
    ])
    func aWrongMemberIsNamed(name: String, value: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            var body: [String: JSONValue] = ["url": "https://publisher.example.com/"]
            body[name] = .string(value)
            let response = try await provider.api.put(Self.path, .object(body))
            #expect(response.status == 400 && response.field == name)
        }
    }

    @Test func aTestShowsTheExchange() async throws {
        try await withProvider(
            senders: ScriptedSender(),
            configure: { $0.webhookAddresses = AddressPolicy(allowsPrivate: true) }
        ) { provider in
            try await provider.addVectorsApp()
            // The provider's own port, which knows no such path.
            let url = "\(provider.api.baseURL)/nowhere"
            let test: JSONValue = ["productIds": ["com.example.issue7"], "account": "alice", "authToken": "t-o-k-e-n"]
            #expect(try await provider.api.post("\(Self.path):test", test).code == "no_entitlement_server")
            try await provider.api.put(Self.path, ["url": .string(url)])
            let result = try await provider.api.post("\(Self.path):test", test)
            #expect(result.status == 200)
            #expect(result.json["answered"] == false && result.json["status"] == 404)
            #expect(result.json["error"] == "the server refuses the question with status 404")
            #expect(result.json["request"].stringValue?.contains(#""authToken":"redacted""#) == true)
            #expect(result.json["response"].stringValue?.contains("error") == true)
            for body in [[:], ["productIds": ["a"]], ["productIds": [], "account": "a"]] as [JSONValue] {
                #expect(try await provider.api.post("\(Self.path):test", body).status == 400)
            }
        }
    }
}
