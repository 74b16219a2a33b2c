import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import SwiftASN1
import Synchronization
import Testing
import X509

/// A certificate for `localhost` and 127.0.0.1, made for one test run, and both ends of TLS with it.
struct LegacyCertificate {
    /// For tests that need one, but not another.
    static let shared = Result { try LegacyCertificate() }

    let pem: String
    let key: String

    init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Date.now.addingTimeInterval(-86_400),
            notValidAfter: Date.now.addingTimeInterval(86_400),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                SubjectAlternativeNames([
                    .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                ])
            },
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
        self.pem = try certificate.serializeAsPEM().pemString
        self.key = key.pemRepresentation
    }

    var client: TLSConfiguration {
        get throws {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(self.pem.utf8)))
            return tls
        }
    }

    var server: TLSConfiguration {
        get throws {
            TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(self.pem.utf8)).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(self.key.utf8), format: .pem))
            )
        }
    }
}

/// A legacy push service on a loopback port that does with its connections, one after the other, what it is told; it
/// accepts everything on those for which nothing was said.
final class LegacyPeer: Sendable {
    enum Script: Sendable {
        /// Reads all there is.
        case accept
        /// Accepts this many notifications, answers the next with the status, and reads no more. With
        /// ``BinaryStatus/shutdown`` the packet names the last accepted one; `identifier` overrides.
        case refuse(after: Int, BinaryStatus, identifier: UInt32? = nil)
        /// Accepts this many, then closes without a word.
        case close(after: Int)
        /// Says these bytes, one per write, and closes.
        case say([UInt8])
        /// Says these bytes, in one write, and then nothing more.
        case sayAndStay([UInt8])
    }

    private struct State {
        var scripts: [Script]
        var accepted: [[BinaryFrame]] = []
        var acceptedCount = 0
    }

    private let state: Mutex<State>

    init(_ scripts: [Script]) {
        self.state = Mutex(State(scripts: scripts))
    }

    /// What was accepted, by connection.
    var accepted: [[BinaryFrame]] { self.state.withLock { $0.accepted } }

    var acceptedCount: Int { self.state.withLock { $0.acceptedCount } }

    /// Runs `body` with the port of a peer.
    static func with<Value: Sendable>(
        _ scripts: [Script],
        tls: TLSConfiguration,
        _ body: (LegacyPeer, Int) async throws -> Value
    ) async throws -> Value {
        let peer = LegacyPeer(scripts)
        let context = try NIOSSLContext(configuration: tls)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Handler(peer: peer))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        do {
            let value = try await body(peer, try #require(server.localAddress?.port))
            try await server.close()
            return value
        } catch {
            try await server.close()
            throw error
        }
    }

    private func next() -> (Int, Script) {
        self.state.withLock { state in
            state.accepted.append([])
            return (state.accepted.count - 1, state.scripts.isEmpty ? .accept : state.scripts.removeFirst())
        }
    }

    private func accept(_ frame: BinaryFrame, on connection: Int) {
        self.state.withLock { state in
            state.accepted[connection].append(frame)
            state.acceptedCount += 1
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let peer: LegacyPeer
        private var script = Script.accept
        private var connection = 0
        private var count = 0
        private var last: UInt32 = 0
        private var received = ByteBuffer()
        private var isDone = false
        private var hasStarted = false

        init(peer: LegacyPeer) {
            self.peer = peer
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            // The end of the handshake: connections that fail before do not count.
            guard !self.hasStarted else { return }
            self.hasStarted = true
            (self.connection, self.script) = self.peer.next()
            switch self.script {
            case .say(let bytes):
                for byte in bytes {
                    context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(integer: byte)), promise: nil)
                }
                context.close(promise: nil)
            case .sayAndStay(let bytes):
                context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .accept, .refuse, .close: break
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !self.isDone else { return }
            self.received.writeImmutableBuffer(Self.unwrapInboundIn(data))
            while !self.isDone, let frame = try? BinaryFrame.read(from: &self.received) {
                self.read(frame, context: context)
            }
        }

        private func read(_ frame: BinaryFrame, context: ChannelHandlerContext) {
            switch self.script {
            case .refuse(self.count, let status, let identifier):
                self.isDone = true
                let named = status == .shutdown ? self.last : frame.notification.identifier
                let packet = BinaryErrorResponse(status: status, identifier: identifier ?? named)
                // The client closes: what it still sends is read and thrown away.
                context.writeAndFlush(Self.wrapOutboundOut(packet.encoded), promise: nil)
            case .close(self.count):
                self.isDone = true
                context.close(promise: nil)
            default:
                self.peer.accept(frame, on: self.connection)
                self.count += 1
                self.last = frame.notification.identifier
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}

/// A clock that stands until a peer has accepted `count` notifications, and then goes on a second at every look: however
/// slow the machine is, silence counts only once the peer has had its say.
struct TimeOfPeer: TimeSource {
    let peer: LegacyPeer
    let count: Int
    private let time = ManualTime()

    init(_ peer: LegacyPeer, accepting count: Int) {
        self.peer = peer
        self.count = count
    }

    var now: Timestamp {
        if self.peer.acceptedCount >= self.count { self.time.advance(by: .seconds(1)) }
        return self.time.now
    }

    var steady: Timestamp { self.now }
}
