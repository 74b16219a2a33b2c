import Benchmarking
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A chat server that signs everybody in, answers signs of life, and says nothing else.
final class ChatServer: Sendable {
    enum Dialect: String, CaseIterable, Sendable {
        case irc, xmpp
    }

    /// The numbers of what has happened.
    struct Counts: Sendable {
        var connections = 0
        var signedIn = 0
        var keepAlives = 0
    }

    private let counts = Mutex(Counts())
    private let tls: NIOSSLContext
    private let dialect: Dialect

    /// - Throws: An error for files that have no certificate or no key.
    init(_ dialect: Dialect, certificate: String, key: String) throws {
        self.dialect = dialect
        let chain = try NIOSSLCertificate.fromPEMFile(certificate).map { NIOSSLCertificateSource.certificate($0) }
        let privateKey = try NIOSSLPrivateKey(file: key, format: .pem)
        self.tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(privateKey))
        )
    }

    var current: Counts { self.counts.withLock { $0 } }

    /// Listens on a free port.
    /// - Returns: The listener.
    func listen() async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 4096)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: self.tls))
                    try pipeline.addHandler(ChatServerHandler(self, self.dialect))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func note(_ change: (inout Counts) -> Void) { self.counts.withLock { change(&$0) } }
}

/// The server's end of a connection.
final class ChatServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: ChatServer
    private let dialect: ChatServer.Dialect
    private var text = ""

    init(_ server: ChatServer, _ dialect: ChatServer.Dialect) { (self.server, self.dialect) = (server, dialect) }

    func channelActive(context: ChannelHandlerContext) {
        self.server.note { $0.connections += 1 }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.server.note { $0.connections -= 1 }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.text += String(buffer: Self.unwrapInboundIn(data))
        let rules = self.dialect == .irc ? Self.irc : Self.xmpp
        var responses = ""
        while let (rule, end) = self.first(of: rules) {
            self.text = String(self.text[end...])
            responses += rule.response
            if rule.isSignIn { self.server.note { $0.signedIn += 1 } }
            if rule.isKeepAlive { self.server.note { $0.keepAlives += 1 } }
        }
        guard !responses.isEmpty else { return }
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: responses)), promise: nil)
    }

    /// Returns the rule whose trigger comes first in what was received.
    private func first(of rules: [Rule]) -> (Rule, String.Index)? {
        rules.compactMap { rule in self.text.firstRange(of: rule.trigger).map { (rule, $0) } }
            .min { $0.1.lowerBound < $1.1.lowerBound }
            .map { ($0.0, $0.1.upperBound) }
    }

    /// The response to a text.
    private struct Rule: Sendable {
        var trigger: String
        var response: String
        var isSignIn = false
        var isKeepAlive = false
    }

    private static let irc: [Rule] = [
        Rule(trigger: "CAP LS 302\r\n", response: ":s CAP * LS :sasl=PLAIN server-time message-tags account-tag\r\n"),
        Rule(trigger: "CAP REQ ", response: ":s CAP * ACK :account-tag message-tags server-time sasl\r\n"),
        Rule(trigger: "AUTHENTICATE PLAIN\r\n", response: "AUTHENTICATE +\r\n"),
        Rule(trigger: "AUTHENTICATE A", response: ":s 903 * :ok\r\n"),
        Rule(trigger: "CAP END\r\n", response: ":s 001 user :Welcome\r\n:s 422 user :No MOTD\r\n", isSignIn: true),
        Rule(trigger: "PING martlet\r\n", response: ":s PONG s martlet\r\n", isKeepAlive: true),
    ]

    private static let xmpp: [Rule] = {
        let header =
            "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>"
        let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
        let bind = "urn:ietf:params:xml:ns:xmpp-bind"
        let features =
            "<mechanisms xmlns='\(sasl)'><mechanism>PLAIN</mechanism></mechanisms><bind xmlns='\(bind)'/><sm xmlns='urn:xmpp:sm:3'/>"
        return [
            Rule(trigger: "<stream:stream", response: "\(header)<stream:features>\(features)</stream:features>"),
            Rule(trigger: "</auth>", response: "<success xmlns='\(sasl)'/>"),
            Rule(
                trigger: "</bind></iq>",
                response: "<iq type='result' id='bind'><bind xmlns='\(bind)'><jid>user@localhost/m</jid></bind></iq>"
            ),
            Rule(
                trigger: "</presence>",
                response: "<enabled xmlns='urn:xmpp:sm:3' id='s' resume='true'/>",
                isSignIn: true
            ),
            // Carbons and presence were counted.
            Rule(
                trigger: "<r xmlns='urn:xmpp:sm:3'/>",
                response: "<a xmlns='urn:xmpp:sm:3' h='2'/>",
                isKeepAlive: true
            ),
        ]
    }()
}
