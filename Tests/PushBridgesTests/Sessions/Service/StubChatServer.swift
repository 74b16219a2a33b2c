import NIOCore
import NIOPosix
import NIOSSL
import PushTesting
import Synchronization

/// A chat server that answers by rules, with TLS from the first byte or from a command on.
final class StubChatServer: Sendable {
    /// An answer to a part of what a client sends.
    struct Rule: Sendable {
        /// The text that a client sends. Rules are used one after the other, each once for each connection.
        var trigger: String
        var response: String
        /// `true` begins TLS after the response.
        var startsTLS = false
    }

    private struct State {
        var channels: [any Channel] = []
        var connections = 0
        var received = ""
    }

    private let state = Mutex(State())
    private let channel: any Channel

    /// - Parameters:
    ///   - isSecure: Indicates whether TLS begins with the first byte.
    ///   - rules: Returns the rules of the connection with a number, from 1.
    static func start(
        isSecure: Bool = true,
        host: String = "127.0.0.1",
        rules: @escaping @Sendable (Int) -> [Rule]
    ) async throws -> StubChatServer {
        let context = try NIOSSLContext(configuration: try SelfSignedCertificate.shared.get().server)
        let shared = Shared()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let server = shared.server else { throw ChannelError.eof }
                    let handlers = channel.pipeline.syncOperations
                    if isSecure { try handlers.addHandler(NIOSSLServerHandler(context: context)) }
                    let number = server.add(channel)
                    try handlers.addHandler(Handler(server, rules(number), context))
                }
            }
            .bind(host: host, port: 0).get()
        let server = StubChatServer(channel)
        shared.server = server
        return server
    }

    /// The server, which its own listener needs.
    private final class Shared: Sendable {
        private let value = Mutex<StubChatServer?>(nil)

        var server: StubChatServer? {
            get { self.value.withLock { $0 } }
            set { self.value.withLock { $0 = newValue } }
        }
    }

    private init(_ channel: any Channel) { self.channel = channel }

    var port: Int { self.channel.localAddress?.port ?? 0 }
    /// All that clients have sent.
    var received: String { self.state.withLock { $0.received } }
    /// The number of connections so far.
    var connections: Int { self.state.withLock { $0.connections } }

    /// Sends text to all clients.
    func send(_ text: String) {
        for channel in self.state.withLock({ $0.channels }) {
            channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
        }
    }

    /// Closes the connections of all clients.
    func disconnect() {
        for channel in self.state.withLock({ $0.channels }) { channel.close(promise: nil) }
    }

    func stop() async throws {
        self.disconnect()
        try await self.channel.close()
    }

    private func add(_ channel: any Channel) -> Int {
        self.state.withLock { state in
            state.channels.append(channel)
            state.connections += 1
            return state.connections
        }
    }

    private func remove(_ channel: any Channel) {
        self.state.withLock { $0.channels.removeAll { $0 === channel } }
    }

    private func note(_ text: String) { self.state.withLock { $0.received += text } }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: StubChatServer
        private var rules: ArraySlice<Rule>
        private let context: NIOSSLContext
        private var pending = ""

        init(_ server: StubChatServer, _ rules: [Rule], _ context: NIOSSLContext) {
            (self.server, self.rules, self.context) = (server, rules[...], context)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: Self.unwrapInboundIn(data))
            self.server.note(text)
            self.pending += text
            while let rule = self.rules.first, let range = self.pending.firstRange(of: rule.trigger) {
                self.pending = String(self.pending[range.upperBound...])
                self.rules.removeFirst()
                context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: rule.response)), promise: nil)
                if rule.startsTLS {
                    let handler = NIOSSLServerHandler(context: self.context)
                    try? context.pipeline.syncOperations.addHandler(handler, position: .first)
                }
            }
        }

        func channelInactive(context: ChannelHandlerContext) { self.server.remove(context.channel) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

extension [StubChatServer.Rule] {
    /// The rules of an IRC server at which `ada` signs in with the password `tea`.
    static let irc: [StubChatServer.Rule] = [
        .init(trigger: "CAP LS 302\r\n", response: ":s CAP * LS :sasl=PLAIN server-time message-tags\r\n"),
        .init(trigger: "CAP REQ", response: ":s CAP * ACK :message-tags server-time sasl\r\n"),
        .init(trigger: "AUTHENTICATE PLAIN\r\n", response: "AUTHENTICATE +\r\n"),
        .init(trigger: "AUTHENTICATE AGFkYQB0ZWE=\r\n", response: ":s 903 ada :ok\r\n"),
        .init(trigger: "CAP END\r\n", response: ":s 001 ada :Welcome\r\n"),
    ]

    /// The rules of an IRC server that refuses every password.
    static let refusingIRC: [StubChatServer.Rule] =
        Array(Self.irc.prefix(3)) + [
            .init(trigger: "AUTHENTICATE ", response: ":s 904 ada :SASL authentication failed\r\n")
        ]

    /// The rules of an XMPP server for `localhost`, with TLS after a command.
    static let xmpp: [StubChatServer.Rule] = {
        let header =
            "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>"
        func features(_ inner: String) -> String { "\(header)<stream:features>\(inner)</stream:features>" }
        return [
            .init(trigger: "version='1.0'", response: features("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")),
            .init(
                trigger: "<starttls",
                response: "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
                startsTLS: true
            ),
            .init(
                trigger: "version='1.0'",
                response: features(
                    "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms>"
                )
            ),
            .init(trigger: ">AGFkYQB0ZWE=</auth>", response: "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>"),
            .init(trigger: "version='1.0'", response: features("<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>")),
            .init(
                trigger: "</iq>",
                response: """
                    <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
                    <jid>ada@localhost/m</jid></bind></iq>
                    """
            ),
        ]
    }()
}
