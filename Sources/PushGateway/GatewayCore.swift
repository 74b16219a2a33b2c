import Foundation
import GRDB
import Logging
import NIOCore
import NIOSSL
import PushProtocol
import Synchronization

/// What stands behind a gateway's doors, built from its data directory.
final class GatewayCore: Sendable {
    static let authorityName = "authority"
    private static let deviceAuthorityName = "device-authority"
    private static let providerAuthorityName = "provider-authority"
    private static let tokenKeyFile = "token.key"

    struct Listeners: Sendable {
        var http2: Listener
        var courier: Listener
    }

    let authorityPEM: String
    let router: Router
    let providerDoor: ProviderDoor
    let courierDoor: CourierDoor
    let adminDoor: AdminDoor
    private let database: DatabasePool
    private let serverTLS: TLSConfiguration
    private let deviceAuthorityPEM: String
    private let logger: Logger
    /// Holds the lock on the folder until the end of ``close()``; what still lives after that cannot write any more.
    private let directory: Mutex<DataDirectory?>

    init(configuration: GatewayConfiguration, time: any TimeSource, logger: Logger) throws {
        let directory = try DataDirectory(configuration.dataDirectory)
        let now = Date(timeIntervalSince1970: Double(time.now.seconds))
        let authority = try CertificateAuthority(
            name: Self.authorityName,
            commonName: "Martlet Gateway Authority",
            in: directory,
            now: now
        )
        let deviceAuthority = try CertificateAuthority(
            name: Self.deviceAuthorityName,
            commonName: "Martlet Device Authority",
            in: directory,
            now: now
        )
        let providerAuthority = try CertificateAuthority(
            name: Self.providerAuthorityName,
            commonName: "Martlet Provider Authority",
            in: directory,
            now: now
        )
        let server = try ServerCertificate(
            authority: authority,
            names: configuration.serverNames,
            in: directory,
            now: now
        )
        let mint = TokenMint(key: try Self.tokenKey(in: directory))
        let database = try GatewayDatabase.open(path: directory.file(GatewayDatabase.file))
        let providers = try ProviderRegistry(database: database)
        let channels = try ChannelRegistry(database: database)
        let registry = try Registry(
            database: database,
            providers: providers,
            mint: mint,
            environment: configuration.environment
        )
        let limits = configuration.limits
        self.router = try Router(database: database, registry: registry, limits: limits, time: time, logger: logger)
        self.providerDoor = ProviderDoor(
            session: ProviderSession.Shared(
                environment: configuration.environment,
                rules: configuration.rules,
                directory: EnvironmentDirectory(providers: providers, devices: registry),
                channels: channels
            ),
            channels: ChannelManager(channels: channels, intake: nil, time: time, logger: logger),
            router: self.router,
            requestDeadline: TimeAmount(limits.request),
            time: time,
            logger: logger
        )
        self.courierDoor = CourierDoor(
            registry: registry,
            router: self.router,
            mint: mint,
            authenticator: DeviceAuthenticator(authority: deviceAuthority, registry: registry),
            limits: limits.courier,
            time: time,
            logger: logger
        )
        self.authorityPEM = try authority.pem
        self.deviceAuthorityPEM = try deviceAuthority.pem
        self.serverTLS = try server.tlsConfiguration(protocols: [])
        let activation = DeviceActivation(
            authority: deviceAuthority,
            deviceAuthorityPEM: self.deviceAuthorityPEM,
            authorityPEM: self.authorityPEM
        )
        self.adminDoor = AdminDoor(
            apps: AppsController(
                registry: providers,
                channels: channels,
                allowsBroadcastByDefault: configuration.rules.allowsBroadcastByDefault
            ),
            keys: KeysController(registry: providers, time: time),
            certificates: CertificatesController(
                registry: providers,
                authority: ProviderAuthority(authority: providerAuthority),
                time: time
            ),
            devices: DevicesController(
                registry: registry,
                router: self.router,
                activation: activation,
                database: database,
                time: time
            ),
            authorityPEM: self.authorityPEM,
            logger: logger
        )
        self.database = database
        self.directory = Mutex(directory)
        self.logger = logger
    }

    /// The TLS doors. A device may show its certificate in the handshake, but need not (courier reference, "Transport").
    func listeners(_ configuration: GatewayConfiguration) throws -> Listeners {
        var http2 = self.serverTLS
        http2.applicationProtocols = ["h2"]
        var courier = self.serverTLS
        courier.applicationProtocols = ["apns-security-v3"]
        courier.certificateVerification = .optionalVerification
        courier.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(self.deviceAuthorityPEM.utf8)))
        return Listeners(
            http2: try Listener(name: "HTTP/2", tls: http2, limits: configuration.limits, logger: self.logger),
            courier: try Listener(name: "courier", tls: courier, limits: configuration.limits, logger: self.logger)
        )
    }

    func close() async throws {
        try await self.router.endAllSessions()
        try self.database.close()
        self.directory.withLock { $0 = nil }
    }

    private static func tokenKey(in directory: borrowing DataDirectory) throws -> [UInt8] {
        let key = try directory.load(Self.tokenKeyFile) {
            var generator = SystemRandomNumberGenerator()
            return Data((0..<TokenMint.keyLength).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        guard key.count == TokenMint.keyLength else {
            throw GatewayError.badFile(
                path: directory.file(Self.tokenKeyFile),
                why: "a token key has \(TokenMint.keyLength) bytes, this file has \(key.count)"
            )
        }
        return Array(key)
    }
}
