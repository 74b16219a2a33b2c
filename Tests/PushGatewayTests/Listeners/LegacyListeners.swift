import Crypto
import Foundation
import NIOCore
import NIOSSL
import PushHTTP
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import SwiftASN1
import X509

@testable import PushGateway

/// Both legacy listeners on free loopback ports, with real TLS, and the certificates that a provider needs.
struct LegacyListeners: Sendable {
    let binaryPort, feedbackPort: Int
    let binary: Listener
    let feedbackStore: FeedbackList
    let database: GatewayDatabase
    let authorities: LegacyAuthorities

    /// - Parameters:
    ///   - topics: of the provider's certificate; the first is its own.
    ///   - binaryPort: of the binary listener; 0 for any free one.
    ///   - body: runs while the listeners are open.
    static func with(
        _ submitter: TestSubmitter = TestSubmitter(),
        topics: [String] = [Vectors.bundleID],
        environments: Set<PushEnvironment> = [.sandbox],
        allowsOldTLS: Bool = false,
        feedbackDelay: Duration = .zero,
        inFlight: Int = 500,
        binaryPort: Int = 0,
        _ body: @escaping @Sendable (LegacyListeners) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let authorities = try LegacyAuthorities(in: directory)
            let identity = LegacyFixtures.identity(topics: topics, environments: environments)
            let certificates = CertificateCheck(environment: .sandbox) { der in
                der == authorities.providerDER ? .success(identity) : .failure(.badCertificate)
            }
            var limits = BinaryServerStateMachine.Limits()
            limits.inFlight = inFlight
            (limits.notification, limits.settlement) = (.patience, .patience)
            let binaryListener = BinaryListener(
                status: LegacyFixtures.status,
                submitter: submitter,
                certificates: certificates,
                faults: FaultPlan(),
                limits: limits,
                time: SystemTime(),
                logger: silentLogger
            )
            let database = try GatewayDatabase(path: "\(directory)/gateway.sqlite")
            let store = FeedbackList(database: database, environment: .sandbox)
            // None of these deadlines is what is tried, and a busy machine takes its time.
            var patience = FeedbackServerStateMachine.Limits()
            patience.progress = .patience
            patience.closing = .patience
            let feedbackListener = FeedbackListener(
                store: store,
                certificates: certificates,
                delay: { _ in feedbackDelay },
                limits: patience,
                time: SystemTime(),
                logger: silentLogger
            )
            let tls = try authorities.serverTLS(allowsOldTLS: allowsOldTLS)
            let binary = try Listener(
                name: "binary",
                tls: tls,
                limits: Self.listening,
                options: .init(allowsHalfClosure: true),
                logger: silentLogger
            )
            let feedback = try Listener(name: "feedback", tls: tls, limits: Self.listening, logger: silentLogger)
            let listeners = LegacyListeners(
                binaryPort: try await binary.bind(
                    ListenAddress(port: binaryPort),
                    initialize: binaryListener.initialize
                ),
                feedbackPort: try await feedback.bind(ListenAddress(port: 0), initialize: feedbackListener.initialize),
                binary: binary,
                feedbackStore: store,
                database: database,
                authorities: authorities
            )
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(listeners))
            } catch {
                result = .failure(error)
            }
            await binary.close(draining: false)
            await feedback.close(draining: false)
            try result.get()
        }
    }

    private static var listening: GatewayConfiguration.Limits {
        var limits = GatewayConfiguration.Limits()
        limits.handshake = .patience
        return limits
    }

    /// A second gateway in the place of the first one, which has closed.
    func reopenBinary(_ submitter: TestSubmitter) async throws -> Listener {
        let listener = try Listener(
            name: "binary",
            tls: try self.authorities.serverTLS(allowsOldTLS: false),
            limits: Self.listening,
            options: .init(allowsHalfClosure: true),
            logger: silentLogger
        )
        let binaryListener = LegacyFixtures.listener(
            submitter,
            identity: .success(LegacyFixtures.identity()),
            time: SystemTime()
        )
        _ = try await listener.bind(ListenAddress(port: self.binaryPort), initialize: binaryListener.initialize)
        return listener
    }

    /// Lists tokens as gone.
    func list(_ entries: [FeedbackEntry]) async throws {
        let store = self.feedbackStore
        try await self.database.write { tables in for entry in entries { try store.add(entry, in: tables) } }
    }

    func countFeedback() async throws -> Int {
        try await self.database.read { try $0.count(.feedback, in: .sandbox) }
    }
}

/// The gateway's authority, that of providers, and an unknown one; a certificate of each.
struct LegacyAuthorities: Sendable {
    let providerDER: [UInt8]
    private let authorityPEM: String
    private let server: (pem: String, key: String)
    private let providerAuthorityPEM: String
    private let provider: (pem: String, key: String)
    private let stranger: (pem: String, key: String)

    init(in directory: String) throws {
        let folder = try DataDirectory("\(directory)/authorities")
        let (own, providers, strangers) = (
            try CertificateAuthority(name: "own", commonName: "Gateway", in: folder, now: .now),
            try CertificateAuthority(name: "providers", commonName: "Providers", in: folder, now: .now),
            try CertificateAuthority(name: "strangers", commonName: "Strangers", in: folder, now: .now)
        )
        let server = try ServerCertificate(authority: own, names: ["localhost"], in: folder, now: .now)
        self.authorityPEM = try own.pem
        self.server = (try server.certificate.serializeAsPEM().pemString, server.privateKeyPEM)
        self.providerAuthorityPEM = try providers.pem
        self.provider = try Self.client(of: providers)
        self.stranger = try Self.client(of: strangers)
        self.providerDER = try PEMDocument(pemString: self.provider.pem).derBytes
    }

    func serverTLS(allowsOldTLS: Bool) throws -> TLSConfiguration {
        let server = TLSConfiguration.makeServerConfiguration(
            certificateChain: try Self.chain(self.server.pem).map { .certificate($0) },
            privateKey: .privateKey(try Self.key(self.server.key))
        )
        return LegacyTLS.configuration(
            server: server,
            providerAuthority: try Self.chain(self.providerAuthorityPEM),
            allowsOldTLS: allowsOldTLS
        )
    }

    enum Client: Sendable {
        case provider, stranger, anonymous
    }

    func clientTLS(_ client: Client = .provider) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try Self.chain(self.authorityPEM))
        switch client {
        case .provider: try Self.show(self.provider, in: &tls)
        case .stranger: try Self.show(self.stranger, in: &tls)
        case .anonymous: break
        }
        return tls
    }

    private static func show(_ identity: (pem: String, key: String), in tls: inout TLSConfiguration) throws {
        tls.certificateChain = try self.chain(identity.pem).map { .certificate($0) }
        tls.privateKey = .privateKey(try self.key(identity.key))
    }

    private static func client(of authority: CertificateAuthority) throws -> (pem: String, key: String) {
        let key = P256.Signing.PrivateKey()
        let certificate = try authority.issue(
            to: DistinguishedName { CommonName("Apple Push Services: \(Vectors.bundleID)") },
            publicKey: Certificate.PublicKey(key.publicKey),
            lifetime: 86_400,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                try ExtendedKeyUsage([.clientAuth])
            },
            now: .now
        )
        return (try certificate.serializeAsPEM().pemString, key.pemRepresentation)
    }

    private static func chain(_ pem: String) throws -> [NIOSSLCertificate] {
        try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))
    }

    private static func key(_ pem: String) throws -> NIOSSLPrivateKey {
        try NIOSSLPrivateKey(bytes: Array(pem.utf8), format: .pem)
    }
}
