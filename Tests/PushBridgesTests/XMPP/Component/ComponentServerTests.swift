import ProviderAPI
import PushProvider
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The servers that the settings of a component may name.
@Suite(.timeLimit(.patience)) struct ComponentServerTests {
    private static let bridge = "/v1/apps/\(Vectors.bundleID)/bridges/xmpp/push.example.org"

    private static func body(_ host: String, _ port: Int, _ more: [String: JSONValue] = [:]) -> JSONValue {
        let server: [String: JSONValue] = ["host": .string(host), "port": .integer(Int64(port))]
        return ["secret": "a secret", "settings": .object(server.merging(more) { $1 })]
    }

    /// Runs a provider, with a client whose key is for its one app.
    private static func withOwnKey(
        _ body: @escaping @Sendable (RunningProvider, JSONClient) async throws -> Void
    ) async throws {
        try await withProvider(senders: ScriptedSender(), addition: { try Bridges($0) }) { provider in
            try await provider.addVectorsApp()
            try await body(provider, try await provider.client(["admin"], apps: [Vectors.bundleID]))
        }
    }

    @Test(arguments: [
        "127.0.0.1", "::1", "localhost", "xmpp.localhost", "10.1.2.3", "169.254.169.254", "fd00::1", "127.1", "a/b",
    ])
    func aKeyOfOneAppNamesNoServerOfTheOwnNetwork(host: String) async throws {
        try await Self.withOwnKey { provider, own in
            let refused = try await own.put(Self.bridge, Self.body(host, 5347))
            #expect(refused.status == 400 && refused.field == "settings.host")
            #expect(try await provider.api.get(Self.bridge).status == 404)
        }
    }

    /// What an administrator of all apps has set stays, whatever else changes.
    @Test func aServerThatIsSetStays() async throws {
        let (port, other) = (try RefusingPort(), try RefusingPort())
        try await Self.withOwnKey { provider, own in
            #expect(try await provider.api.put(Self.bridge, Self.body("127.0.0.1", port.number)).status == 200)
            let changed = try await own.put(Self.bridge, Self.body("127.0.0.1", port.number, ["title": "Tea"]))
            #expect(changed.status == 200 && changed.json["settings"]["title"] == "Tea")
            #expect(try await own.put(Self.bridge, Self.body("127.0.0.1", other.number)).code == "address_not_allowed")
            #expect(try await own.put(Self.bridge, Self.body("127.0.0.2", port.number)).code == "address_not_allowed")
            #expect(try await own.get(Self.bridge).json["settings"]["port"] == .integer(Int64(port.number)))
        }
    }

    @Test func aServerOfTheInternetIsAllowed() throws {
        func check(_ host: String, _ port: Int64 = 5347, _ policy: AddressPolicy = AddressPolicy()) throws {
            let members: [String: JSONValue] = ["host": .string(host), "port": .integer(port)]
            let fields = try JSONFields(members: members, path: "settings", known: ComponentSettings.members)
            try ComponentSettings(fields).checkServer(policy)
        }
        for host in ["xmpp.example.org", "XMPP.Example.org", "8.8.8.8", "2606:4700::1"] { try check(host) }
        try check("127.0.0.1", 25, AddressPolicy(allowsPrivate: true))
        let error = #expect(throws: RequestError.self) { try check("xmpp.example.org", 25) }
        #expect(error?.code == "port_not_allowed" && error?.path == "settings.port")
    }
}
