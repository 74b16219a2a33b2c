import Crypto
import Foundation
import ProviderAPI
import PushDevice
import PushGateway
import PushSender
import PushSupport
import PushTypes
import ServiceLifecycle

/// The whole loop, set up over real sockets: gateway, provider, device, and how to reach each.
struct DemoLoop: Sendable {
    static let bundleID = "com.example.MyApp"
    static let user = "alice"
    static let teamID = "DEMOTEAM01"
    static let keyID = "DEMOKEY001"

    let directory: String
    let log: LogSetup
    let narrator: DemoNarrator
    let privateKey = P256.Signing.PrivateKey().pemRepresentation

    private(set) var gatewayPorts = GatewayAddresses()
    private(set) var providerPort = 0
    private(set) var apiKey = ""
    private(set) var deviceID = ""
    private(set) var deviceToken = ""

    init(directory: String, log: LogSetup, narrator: DemoNarrator) {
        self.directory = directory
        self.log = log
        self.narrator = narrator
    }

    var authorityFile: String { "\(self.directory)/gateway/authority.pem" }
    var admin: HTTPCall { HTTPCall(baseURL: "http://127.0.0.1:\(self.gatewayPorts.admin)") }
    var provider: HTTPCall { HTTPCall(baseURL: "http://127.0.0.1:\(self.providerPort)", apiKey: self.apiKey) }

    mutating func startGateway(_ start: (any Service) async -> Void) async throws -> Gateway {
        var configuration = GatewayConfiguration(dataDirectory: "\(self.directory)/gateway")
        configuration.listeners = [.sandbox: .free]
        configuration.admin.port = 0
        let gateway = try Gateway(
            configuration: configuration,
            time: SystemTime(),
            logger: self.log.logger("gateway")
        )
        await start(gateway)
        self.gatewayPorts = try await gateway.addresses()
        let ports = self.gatewayPorts
        self.narrator.say(
            .gateway,
            "open: HTTP/2 on port \(ports.main.http2), devices on \(ports.main.deviceLink), admin on \(ports.admin)"
        )
        try await self.admin(.post, "/v1/apps", body: ["teamId": Self.teamID, "bundleId": Self.bundleID])
        try await self.admin(
            .post,
            "/v1/keys",
            body: ["teamId": Self.teamID, "keyId": Self.keyID, "key": self.privateKey]
        )
        self.narrator.say(.gateway, "knows app \(Self.bundleID) and key \(Self.keyID) of team \(Self.teamID)")
        return gateway
    }

    mutating func startProvider(trusting authority: String, _ start: (any Service) async -> Void) async throws {
        let endpoint = PushServiceEndpoint(
            host: "localhost",
            port: self.gatewayPorts.main.http2,
            additionalTrustRoots: authority
        )
        let pool = try SenderPool(endpoints: [.sandbox: endpoint], logger: self.log.logger("sender"))
        await start(pool)
        var configuration = ProviderConfiguration(dataDirectory: "\(self.directory)/provider")
        configuration.port = 0
        let server = try await ProviderServer(
            configuration: configuration,
            senders: pool,
            logger: self.log.logger("provider")
        )
        self.apiKey = server.firstAdminKey ?? ""
        await start(server)
        self.providerPort = try await server.port()
        self.narrator.say(.provider, "open: http://127.0.0.1:\(self.providerPort)/v1")
        try await self.provider(.post, "/v1/apps", body: ["bundleId": Self.bundleID])
        try await self.provider(
            .put,
            "/v1/apps/\(Self.bundleID)/credentials/sandbox",
            body: ["teamId": Self.teamID, "keyId": Self.keyID, "privateKey": self.privateKey]
        )
        self.narrator.say(.provider, "has the app and its credential for the sandbox")
    }

    mutating func startDevice(_ start: (any Service) async -> Void) async throws -> Device {
        let activation = DeviceActivation(adminURL: "http://127.0.0.1:\(self.gatewayPorts.admin)")
        let identity = try await activation.activate(name: "demo device")
        self.deviceID = identity.deviceID
        self.narrator.say(.device, "activated: it has a certificate as \(identity.deviceID)")
        let device = Device(
            identity: identity,
            configuration: DeviceConfiguration(port: self.gatewayPorts.main.deviceLink),
            logger: self.log.logger("device")
        )
        await start(device)
        self.deviceToken = try await device.deviceToken(for: Self.bundleID)
        self.narrator.say(
            .device,
            "connected; device token \(self.deviceToken.prefix(16))… (\(self.deviceToken.count / 2) bytes)"
        )
        try await self.provider(
            .post,
            "/v1/apps/\(Self.bundleID)/devices",
            body: ["token": self.deviceToken, "environment": "sandbox", "user": Self.user]
        )
        self.narrator.say(.provider, "registered the device for user \(Self.user)")
        return device
    }
}
