import AppSimulator
import Crypto
import Foundation
import ProviderAPI
import PushDevice
import PushGateway
import PushProvider
import PushSender
import PushSupport
import PushTypes
import ServiceLifecycle

/// The gateway, the provider and the phone of the demo, connected over real sockets.
struct DemoLoop: Sendable {
    static let bundleID = "com.example.MyApp", user = "alice", teamID = "DEMOTEAM01", keyID = "DEMOKEY001"
    /// The rule file that declares which screens of the app notifications may open.
    static let routes = """
        {"version":1,"fallback":"home","screens":[
        {"name":"home"},
        {"name":"order","class":"Order","parameters":[{"name":"id","type":"integer"}]}]}
        """

    /// The key in the URL of the publisher's registration form, which authorizes registrations.
    static let registrationKey = "demo-registration-key"

    /// The time limit for one step of a phone, in seconds. Tests raise it for busy machines.
    @TaskLocal static var patience = 30

    /// The environment of the push service. The readers of the publisher's demo require production.
    let environment: PushEnvironment
    let directory: String
    let log: LogConfiguration
    let narrator = DemoNarrator()
    /// The private key that signs provider tokens, in PEM.
    let privateKey = P256.Signing.PrivateKey().pemRepresentation

    private(set) var gatewayPorts = GatewayAddresses()
    private(set) var providerPort = 0
    private(set) var apiKey = "", publicKey = "", userSecret = "", deviceID = "", deviceToken = ""

    init(directory: String, environment: PushEnvironment = .sandbox, log: LogConfiguration) {
        (self.directory, self.environment, self.log) = (directory, environment, log)
    }

    /// The path of the gateway's CA certificate, in PEM.
    var authorityFile: String { "\(self.directory)/gateway/authority.pem" }
    var admin: APIClient {
        get throws { try APIClient(baseURL: "http://127.0.0.1:\(self.gatewayPorts.admin)", role: .gateway) }
    }
    var providerURL: String { "http://127.0.0.1:\(self.providerPort)" }
    var provider: APIClient { get throws { try APIClient(baseURL: self.providerURL, apiKey: self.apiKey) } }

    /// Starts a gateway, registers the app and the key for provider tokens with it, and returns it.
    /// - Parameter start: A closure that starts a service.
    mutating func startGateway(_ start: (any Service) async -> Void) async throws -> Gateway {
        var configuration = GatewayConfiguration(dataDirectory: "\(self.directory)/gateway")
        configuration.listeners = [self.environment: .free]
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

    /// Starts a provider, and adds the app, its credential, and API keys for the app and its back end.
    /// - Parameters:
    ///   - authority: The gateway's CA certificate, in PEM.
    ///   - start: A closure that starts a service.
    mutating func startProvider(trusting authority: String, _ start: (any Service) async -> Void) async throws {
        let port = self.gatewayPorts.main.http2
        let endpoint = PushServiceEndpoint(host: "localhost", port: port, additionalTrustRoots: authority)
        let pool = try SenderPool(endpoints: [self.environment: endpoint], logger: self.log.logger("sender"))
        await start(pool)
        var configuration = ProviderConfiguration(dataDirectory: "\(self.directory)/provider")
        configuration.port = 0
        if let topic = Topic(Self.bundleID) {
            configuration.compatibility.apps[topic] = .init(key: Self.registrationKey)
        }
        configuration.gatewayEvents = GatewayEventClient(url: "http://127.0.0.1:\(self.gatewayPorts.admin)")
        let logger = self.log.logger("provider")
        let server = try await ProviderServer(configuration: configuration, senders: pool, logger: logger)
        self.apiKey = server.firstAdminKey ?? ""
        await start(server)
        self.providerPort = try await server.port()
        self.narrator.report(.provider, "open: \(self.providerURL)/v1")
        try await self.provider.send(.post("apps").body(["bundleId": Self.bundleID.json]))
        let key = ["teamId": Self.teamID.json, "keyId": Self.keyID.json, "privateKey": self.privateKey.json]
        try await self.provider.send(.put("apps", Self.bundleID, "credentials", self.environment.rawValue).body(key))
        self.narrator.report(.provider, "has the app and its credential for \(self.environment.rawValue)")
        try await self.provider.send(APIRequest(.patch, ["apps", Self.bundleID]).body(["receipts": "device"]))
        let forTheApp: [String: JSONValue?] = [
            "name": "in-the-app", "scopes": .texts(["registerSelf"]), "apps": .texts([Self.bundleID]),
        ]
        self.publicKey = try await self.provider.send(.post("keys").body(forTheApp))["key"].stringValue ?? ""
        let secret = try await self.provider.send(.post("apps", Self.bundleID, "user-secrets"))["secret"]
        self.userSecret = secret.stringValue ?? ""
        self.narrator.report(
            .provider,
            "accepts receipts; created a public key for the app and a user secret for its back end"
        )
    }

    /// Starts a phone with the app, which registers itself with the provider and signs its user in.
    /// - Parameter start: A closure that starts a service.
    mutating func startPhone(_ start: (any Service) async -> Void) async throws -> Simulator {
        let device = DeviceConfiguration(port: self.gatewayPorts.main.deviceLink)
        guard let url = URL(string: self.providerURL) else { throw SettingsError("\(self.providerURL) is no URL") }
        var configuration = SimulatorConfiguration(
            app: Self.bundleID,
            provider: url,
            publicKey: self.publicKey,
            device: device
        )
        configuration.routes = Data(Self.routes.utf8)
        let narrator = self.narrator
        let simulator = try await SimulatorCommand.simulator(
            configuration,
            directory: "\(self.directory)/phone",
            gateway: try self.admin,
            logger: self.log.logger("device")
        ) { narrator.report($0) }
        await start(simulator)
        try await Self.perform(.wait(.registered, count: 1, seconds: DemoLoop.patience), simulator)
        let status = try await simulator.perform(.status)?.json ?? .null
        self.deviceToken = status["deviceToken"].stringValue ?? ""
        self.deviceID = await simulator.deviceID
        let installation = status["installation"].stringValue
        let proof = try UserProofSigner(secret: self.userSecret).proof(ofUser: Self.user, installation: installation)
        narrator.report(.backEnd, "signs a proof that installation \(installation ?? "?") is \(Self.user)'s")
        try await Self.perform(.login(proof: proof), simulator)
        try await Self.perform(.wait(.registered, count: 1, seconds: DemoLoop.patience), simulator)
        return simulator
    }

    /// Executes a command on the phone.
    /// - Throws: ``SettingsError`` for a command that fails or times out.
    static func perform(_ command: PhoneCommand, _ simulator: Simulator) async throws {
        do {
            _ = try await simulator.perform(command)
        } catch let error as WaitError {
            throw SettingsError("a step of the demo did not happen: \(error)".printable)
        }
    }
}

/// Prints each step of the demo as one line, with the seconds since the start, the role and its action.
struct DemoNarrator: Sendable {
    enum Role: String {
        case gateway, provider, phone, app, publisher
        case backEnd = "back end"
    }

    private let start = ContinuousClock.now
    /// The function that writes to standard output. Tests replace it for the creating task, and other tasks use it too.
    private let write = StandardOutput.write

    func report(_ role: Role, _ text: String) {
        let milliseconds = (ContinuousClock.now - self.start) / .milliseconds(1)
        let time = String(format: "%7.3f s", milliseconds / 1000)
        let role = role.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0)
        try? self.write(Data("\(time)  \(role)  \(text)\n".utf8))
    }

    func report(_ event: SimulatorEvent) {
        let role: Role =
            switch event.name {
            case .registered, .receipts, .screen, .extension, .woken, .converted, .catalogue, .entitled, .cover: .app
            case .downloading, .downloaded, .skipped, .waiting, .paused, .resumed, .failed: .app
            default: .phone
            }
        self.report(role, "\(event.name.rawValue): \(event.lines.joined(separator: " · "))".printable)
    }
}

extension DemoLoop {
    /// Returns the commands that users can try while the demo runs. They contain a valid provider token.
    /// - Parameter notification: The id of the first notification.
    func hints(notification: String) throws -> String {
        let (ports, app) = (self.gatewayPorts, Self.bundleID)
        var token = ProviderTokenSigner(
            key: try ProviderKey(teamID: Self.teamID, keyID: Self.keyID, pem: self.privateKey)
        )
        let providerToken = try token.text(now: SystemTime().now)
        return """

            The demo keeps running; Ctrl-C ends it. The phone takes commands here: list, open, dismiss, help …
            In another terminal:

            # through the provider
            curl -s http://127.0.0.1:\(self.providerPort)/v1/apps/\(app)/notifications \\
              -H 'authorization: Bearer \(self.apiKey)' -H 'content-type: application/json' \\
              -d '{"to":{"user":"\(Self.user)"},"alert":{"title":"Hello again","body":"from curl"}}'

            # straight to the gateway, as any APNs client does
            curl --http2 --cacert \(self.authorityFile) https://localhost:\(ports.main.http2)/3/device/\(self.deviceToken) \\
              -H 'apns-topic: \(app)' -H 'apns-push-type: alert' \\
              -H 'authorization: bearer \(providerToken)' \\
              -d '{"aps":{"alert":"straight to the gateway"}}' -i

            # another phone with the app
            martlet simulator --app \(app) --provider \(self.providerURL) --public-key \(self.publicKey) \\
              --gateway localhost:\(ports.main.deviceLink) --admin-url http://127.0.0.1:\(ports.admin)

            # what happened to the user's newest notifications, from the request to the screen
            martlet timeline --user \(Self.user) --app \(app) --server \(self.providerURL) --api-key \(self.apiKey)

            # the receipts of the first notification: delivered, shown, opened
            martlet notification export-receipts \(notification) --server \(self.providerURL) --api-key \(self.apiKey)

            # what the gateway did with it
            curl -s http://127.0.0.1:\(ports.admin)/v1/devices/\(self.deviceID)/events

            """
    }
}

/// Creates user proofs as an app's back end does after a login: JWTs that are signed with HS256.
private struct UserProofSigner: Sendable {
    /// The time for which a proof is valid, in seconds. The provider accepts no more than an hour.
    static let validity = 600

    /// The user secret of the app, `us_…`, which signs the proofs.
    let secret: String

    /// Returns a proof for a user, valid from `now`.
    /// - Parameter installation: The only installation that may use the proof, or `nil` for any installation.
    func proof(ofUser user: String, installation: String? = nil, now: Date = Date()) throws -> String {
        let end = Int64(now.timeIntervalSince1970) + Int64(Self.validity)
        let claims = JSONValue.members(["sub": user.json, "exp": .integer(end), "installation": installation?.json])
        let signed = "\(Base64URL.encode(#"{"alg":"HS256"}"#.utf8)).\(Base64URL.encode(try claims.text))"
        let key = SymmetricKey(data: Data(self.secret.utf8))
        let signature = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)
        return "\(signed).\(Base64URL.encode(signature))"
    }
}
