import Crypto
import Foundation
import ProviderAPI
import PushDevice
import PushGateway
import PushSender
import PushSupport
import PushTypes
import ServiceLifecycle

/// The gateway, the provider and the device of the demo, connected over real sockets.
struct DemoLoop: Sendable {
    static let bundleID = "com.example.MyApp", user = "alice", teamID = "DEMOTEAM01", keyID = "DEMOKEY001"

    /// The temporary directory for the data of all roles.
    let directory: String
    let log: LogConfiguration
    let narrator = DemoNarrator()
    /// The key that signs provider tokens, in PEM.
    let privateKey = P256.Signing.PrivateKey().pemRepresentation

    private(set) var gatewayPorts = GatewayAddresses()
    private(set) var providerPort = 0
    private(set) var apiKey = "", deviceID = "", deviceToken = ""

    init(directory: String, log: LogConfiguration) { (self.directory, self.log) = (directory, log) }

    /// The file of the gateway's authority.
    var authorityFile: String { "\(self.directory)/gateway/authority.pem" }
    /// A client of the gateway's admin API.
    var admin: APIClient {
        get throws { try APIClient(baseURL: "http://127.0.0.1:\(self.gatewayPorts.admin)", role: .gateway) }
    }
    /// A client of the provider's API.
    var provider: APIClient {
        get throws { try APIClient(baseURL: "http://127.0.0.1:\(self.providerPort)", apiKey: self.apiKey) }
    }

    /// Starts a gateway with the app and its key.
    /// - Parameter start: Runs a service.
    mutating func startGateway(_ start: (any Service) async -> Void) async throws -> Gateway {
        var configuration = GatewayConfiguration(dataDirectory: "\(self.directory)/gateway")
        configuration.listeners = [.sandbox: .free]
        configuration.admin.port = 0
        let logger = self.log.logger("gateway")
        let gateway = try Gateway(configuration: configuration, time: SystemTime(), logger: logger)
        await start(gateway)
        self.gatewayPorts = try await gateway.addresses()
        let (main, admin) = (self.gatewayPorts.main, self.gatewayPorts.admin)
        let ports = "HTTP/2 on port \(main.http2), devices on \(main.deviceLink), admin on \(admin)"
        self.narrator.report(.gateway, "open: \(ports)")
        let app = ["teamId": Self.teamID.json, "bundleId": Self.bundleID.json]
        try await self.admin.send(.post("apps").body(app))
        let key = ["teamId": Self.teamID.json, "keyId": Self.keyID.json, "key": self.privateKey.json]
        try await self.admin.send(.post("keys").body(key))
        self.narrator.report(.gateway, "knows app \(Self.bundleID) and key \(Self.keyID) of team \(Self.teamID)")
        return gateway
    }

    /// Starts a provider with the app and its credential.
    mutating func startProvider(trusting authority: String, _ start: (any Service) async -> Void) async throws {
        let port = self.gatewayPorts.main.http2
        let endpoint = PushServiceEndpoint(host: "localhost", port: port, additionalTrustRoots: authority)
        let pool = try SenderPool(endpoints: [.sandbox: endpoint], logger: self.log.logger("sender"))
        await start(pool)
        var configuration = ProviderConfiguration(dataDirectory: "\(self.directory)/provider")
        configuration.port = 0
        let logger = self.log.logger("provider")
        let server = try await ProviderServer(configuration: configuration, senders: pool, logger: logger)
        self.apiKey = server.firstAdminKey ?? ""
        await start(server)
        self.providerPort = try await server.port()
        self.narrator.report(.provider, "open: http://127.0.0.1:\(self.providerPort)/v1")
        try await self.provider.send(.post("apps").body(["bundleId": Self.bundleID.json]))
        let key = ["teamId": Self.teamID.json, "keyId": Self.keyID.json, "privateKey": self.privateKey.json]
        try await self.provider.send(.put("apps", Self.bundleID, "credentials", "sandbox").body(key))
        self.narrator.report(.provider, "has the app and its credential for the sandbox")
    }

    /// Starts a device and registers it at the provider.
    mutating func startDevice(_ start: (any Service) async -> Void) async throws -> Device {
        let activation = DeviceActivation(adminURL: "http://127.0.0.1:\(self.gatewayPorts.admin)")
        let identity = try await activation.activate(name: "demo device")
        self.deviceID = identity.deviceID
        self.narrator.report(.device, "activated: it has a certificate as \(identity.deviceID)")
        let configuration = DeviceConfiguration(port: self.gatewayPorts.main.deviceLink)
        let device = Device(identity: identity, configuration: configuration, logger: self.log.logger("device"))
        await start(device)
        self.deviceToken = try await device.deviceToken(for: Self.bundleID)
        let (start, size) = (self.deviceToken.prefix(16), self.deviceToken.count / 2)
        self.narrator.report(.device, "connected; device token \(start)… (\(size) bytes)")
        let registration = ["token": self.deviceToken.json, "environment": "sandbox", "user": Self.user.json]
        try await self.provider.send(.post("apps", Self.bundleID, "devices").body(registration))
        self.narrator.report(.provider, "registered the device for user \(Self.user)")
        return device
    }
}

/// Prints each step of the demo as one line: seconds since the start, the role, and what it did.
struct DemoNarrator: Sendable {
    /// The roles that take part.
    enum Role: String { case gateway, provider, device }

    private let start = ContinuousClock.now

    /// Prints one line.
    func report(_ role: Role, _ text: String) {
        let milliseconds = (ContinuousClock.now - self.start) / .milliseconds(1)
        let time = String(format: "%7.3f s", milliseconds / 1000)
        StandardOutput.line("\(time)  \(role.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0))  \(text)")
    }
}
