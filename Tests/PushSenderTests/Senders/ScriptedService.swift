import Crypto
import Foundation
import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL
import PushTesting
import PushWire
import SwiftASN1
import Synchronization
import X509

@testable import PushSender

/// A push service that does what a test says, over TLS on a free port.
final class ScriptedService: Sendable {
    /// What happened on the service's side.
    enum Event {
        /// A TLS connection stands.
        case opened
        case request(ServiceRequest)
    }

    enum Act: Sendable {
        case settings([(HTTP2Setting, UInt32)])
        case reply(status: Int = 200, headers: [(String, String)] = [], body: String = "")
        /// The same, one byte per write.
        case replySlowly
        case reset(UInt32)
        /// More room for the bodies of all requests together.
        case window(UInt32)
        case goAway(last: UInt32, debugData: String = "")
        case bytes([UInt8])
        /// End of this direction only.
        case halfClose
        case close
    }

    /// Called for each event of each connection, with the connection's number from 0.
    typealias Script = @Sendable (_ connection: Int, Event) -> [Act]

    fileprivate struct State {
        var connections = 0
        var requests: [ServiceRequest] = []
        var replied = 0
    }

    let port: Int
    let certificate: ServiceCertificate
    private let channel: any Channel
    private let state: SharedState

    final class SharedState: Sendable {
        fileprivate let value = Mutex(State())
    }

    /// The usual start of a service.
    static let greeting = [Act.settings([(.maximumConcurrentStreams, 1000)]), .window(1_000_000_000)]
    static let always200: Script = { _, event in
        if case .opened = event { ScriptedService.greeting } else { [.reply()] }
    }

    private init(channel: any Channel, port: Int, certificate: ServiceCertificate, state: SharedState) {
        self.channel = channel
        self.port = port
        self.certificate = certificate
        self.state = state
    }

    static func start(
        port: Int = 0,
        certificate: ServiceCertificate? = nil,
        demandsClientCertificate: Bool = false,
        script: @escaping Script
    ) async throws -> ScriptedService {
        let certificate = try certificate ?? ServiceCertificate()
        let state = SharedState()
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate.certificate)],
            privateKey: .privateKey(certificate.key)
        )
        tls.applicationProtocols = ["h2"]
        if demandsClientCertificate {
            tls.certificateVerification = .noHostnameVerification
            tls.trustRoots = .certificates([certificate.certificate])
        }
        let context = try NIOSSLContext(configuration: tls)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = state.value.withLock { state in
                        defer { state.connections += 1 }
                        return state.connections
                    }
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context),
                        ScriptedServiceHandler(
                            number: number,
                            script: script,
                            onRequest: { request in state.value.withLock { $0.requests.append(request) } },
                            onReply: { state.value.withLock { $0.replied += 1 } }
                        ),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .get()
        return ScriptedService(
            channel: channel,
            port: channel.localAddress?.port ?? 0,
            certificate: certificate,
            state: state
        )
    }

    var endpoint: PushServiceEndpoint {
        PushServiceEndpoint(host: "localhost", port: self.port, additionalTrustRoots: self.certificate.pem).patient
    }

    var requests: [ServiceRequest] { self.state.value.withLock { $0.requests } }
    var connections: Int { self.state.value.withLock { $0.connections } }
    /// Requests that were answered, with whatever.
    var replied: Int { self.state.value.withLock { $0.replied } }

    func stop() async {
        try? await self.channel.close()
    }
}

struct ServiceRequest: Sendable {
    var connection: Int
    var streamID: UInt32
    /// How many came before it on its connection.
    var number: Int
    var headers: HPACKHeaders
    var body: [UInt8]

    var id: String { self.headers.first(name: "apns-id") ?? "" }
    var authorization: String { self.headers.first(name: "authorization") ?? "" }
}

/// A certificate for `localhost`, made for one test.
struct ServiceCertificate: Sendable {
    let certificate: NIOSSLCertificate
    let key: NIOSSLPrivateKey
    let pem: String

    init(expires: Date = Date(timeIntervalSinceNow: 3600), name: String = "localhost") throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName(name) }
        let made = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -7200),
            notValidAfter: expires,
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                SubjectAlternativeNames([.dnsName("localhost")])
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            },
            issuerPrivateKey: .init(key)
        )
        self.pem = try made.serializeAsPEM().pemString
        self.certificate = try NIOSSLCertificate(bytes: Array(self.pem.utf8), format: .pem)
        self.key = try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)
    }
}
