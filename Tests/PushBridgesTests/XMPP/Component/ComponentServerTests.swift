import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import ServiceLifecycle
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

    /// The operations of bridges without their services, which would connect.
    private struct BridgesAlone: ProviderExtension {
        let controllers: [any Controller<APIScope>]
        let services: [any Service] = []

        init(_ parts: ProviderComponents) {
            self.controllers = [BridgesController(store: parts.store, time: parts.time, logger: parts.logger)]
        }

        func addRoutes(to router: Router<APIContext>) {}
    }

    /// Whoever has the name decides where it leads, at any time.
    @Test func aNameIsStoredWithWhatItMayLeadTo() async throws {
        let store = OneShotValue<any ProviderStore>()
        try await withProvider(
            senders: ScriptedSender(),
            addition: { parts in
                store.resolve(.success(parts.store))
                return BridgesAlone(parts)
            }
        ) { provider in
            try await provider.addVectorsApp()
            let own = try await provider.client(["admin"], apps: [Vectors.bundleID])
            func isPublicOnly() async throws -> Bool {
                let record = try #require(try await store.value.bridge(.xmpp, name: "push.example.org"))
                return try ComponentSettings(record).isPublicOnly
            }
            let body = Self.body("xmpp.example.org", 5347)
            let retitled = Self.body("xmpp.example.org", 5347, ["title": "Tea"])
            let set = try await own.put(Self.bridge, body)
            #expect(set.status == 200 && set.json["settings"] == body["settings"], "nobody sees the member")
            #expect(try await own.get(Self.bridge).json["settings"] == body["settings"])
            #expect(try await isPublicOnly())
            #expect(try await own.put(Self.bridge, retitled).status == 200)
            #expect(try await isPublicOnly())
            let named = try await own.put(Self.bridge, Self.body("xmpp.example.org", 5347, ["publicOnly": false]))
            #expect(named.code == "unknown_field" && named.field == "settings.publicOnly")
            // An administrator of all apps vouches for the name.
            #expect(try await provider.api.put(Self.bridge, body).status == 200)
            #expect(try await !isPublicOnly())
            #expect(try await own.put(Self.bridge, retitled).status == 200)
            #expect(try await !isPublicOnly())
        }
    }

    /// A resolver by which every name leads to this host.
    private struct LoopbackResolver: NameResolver {
        func addresses(of name: String, within limit: Duration) async throws -> [IPAddress] {
            IPAddress("127.0.0.1").map { [$0] } ?? []
        }
    }

    @Test func aNameThatLeadsToThisHostIsNotConnectedTo() async throws {
        try await TestComponentServer.run { server in
            func connector(_ addresses: AddressPolicy) throws -> ComponentConnector {
                let settings: [String: JSONValue] = [
                    "host": "rebound.example", "port": .integer(Int64(server.port)), "tls": "none", "publicOnly": true,
                ]
                return ComponentConnector(
                    bridge: try ConfiguredComponent.testing(settings),
                    timeout: .patience,
                    addresses: addresses,
                    resolver: LoopbackResolver()
                )
            }
            let refusing = try connector(AddressPolicy())
            await #expect(throws: ComponentFailure.notPublic) { _ = try await refusing.connect(attempt: 1) }
            // No other resolver knows the name: had the connection asked one, nothing would arrive.
            let channel = try await connector(AddressPolicy(allowsPrivate: true)).connect(attempt: 1)
            #expect(await server.next() != nil)
            try? await channel.executeThenClose { _, _ in }
        }
    }

    @Test func aServerOfTheInternetIsAllowed() throws {
        func check(_ host: String, _ port: Int64 = 5347, _ policy: AddressPolicy = AddressPolicy()) throws {
            let members: [String: JSONValue] = ["host": .string(host), "port": .integer(port)]
            let fields = try JSONFields(members: members, path: "settings", known: ComponentSettings.object.known)
            try ComponentSettings(fields).checkServer(policy)
        }
        for host in ["xmpp.example.org", "XMPP.Example.org", "8.8.8.8", "2606:4700::1"] { try check(host) }
        try check("127.0.0.1", 25, AddressPolicy(allowsPrivate: true))
        let error = #expect(throws: RequestError.self) { try check("xmpp.example.org", 25) }
        #expect(error?.code == "port_not_allowed" && error?.path == "settings.port")
    }
}
