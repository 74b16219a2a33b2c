import Logging
import NIOCore
import NIOSSL
import PushHTTP

/// A TLS listener. It binds a port, limits and tracks connections, and closes all of them at shutdown.
final class Listener: Sendable {
    struct Options: Sendable {
        /// A Boolean value that indicates whether the listener limits the time of the TLS handshake. It is `false` if
        /// the connection's own handler does so.
        var watchesHandshake = true
        /// A Boolean value that indicates whether the handshake fails for an untrusted client certificate. It is
        /// `false` if the handler checks the certificate later.
        var checksCertificates = true
        /// A Boolean value that indicates whether responses are sent after the client has half-closed the connection.
        var allowsHalfClosure = false
    }

    let name: String
    /// The maximum number of open connections. Further ones are closed immediately.
    let maximumConnections: Int
    private let handshakeDeadline: TimeAmount
    private let options: Options
    private let unauthenticated: UnauthenticatedConnectionBudget?
    private let tls: NIOSSLContext
    private let faults: ListenerFaultPlan?
    private let memory = MemoryTrimmer()
    private let open: ListenerConnections

    /// Creates a listener, whose port ``bind(_:initialize:)`` opens.
    /// - Parameters:
    ///   - name: The name for logs and errors.
    ///   - unauthenticated: The budget of connections without a credential, which all listeners share, or `nil` if
    ///     there is none.
    ///   - faults: The fault rules that are applied to new connections, or `nil` if there are none.
    init(
        name: String,
        tls: TLSConfiguration,
        limits: GatewayConfiguration.Limits,
        options: Options = .init(),
        unauthenticated: UnauthenticatedConnectionBudget? = nil,
        faults: ListenerFaultPlan? = nil,
        logger: Logger
    ) throws {
        (self.name, self.options) = (name, options)
        (self.maximumConnections, self.handshakeDeadline) = (limits.connections, TimeAmount(limits.handshake))
        self.open = ListenerConnections(of: name, maximum: limits.connections, logger: logger)
        self.tls = try NIOSSLContext(configuration: tls)
        (self.unauthenticated, self.faults) = (unauthenticated, faults)
    }

    var connections: Int { self.open.count }

    /// Starts to listen.
    /// - Parameter initialize: Adds the handlers behind TLS to a connection's pipeline. The second argument is the
    ///   fault of the connection, or `nil` if there is none.
    /// - Returns: The port, which the system chooses if `address` has the port 0.
    /// - Throws: ``GatewayError/cannotListen(listener:address:why:)``.
    func bind(
        _ address: ListenAddress,
        initialize: @escaping @Sendable (any Channel, FaultDecision?) throws -> Void
    ) async throws -> Int {
        do {
            let server = try await self.open.bind(
                host: address.host,
                port: address.port,
                backlog: 1024,
                allowsHalfClosure: self.options.allowsHalfClosure
            ) { try self.accept($0, initialize) }
            return server.localAddress?.port ?? address.port
        } catch {
            throw GatewayError.cannotListen(self.name, address, error)
        }
    }

    /// Stops listening, and returns once all connections are closed.
    /// - Parameter draining: `true` if connections finish their running requests first, `false` to close them
    ///   immediately.
    func close(draining: Bool) async { await self.open.close(draining: draining) }

    /// Sets up a new connection: counts it, applies its faults, and adds TLS and the listener's own handlers.
    private func accept(_ channel: any Channel, _ initialize: (any Channel, FaultDecision?) throws -> Void) throws {
        // Connections without a credential have their own budget and do not count against the limit of the others.
        guard self.open.admit(channel, besides: self.unauthenticated?.count ?? 0) else { return }
        channel.closeFuture.whenComplete { _ in self.memory.connectionClosed() }
        guard try self.unauthenticated?.admit(channel, listener: self.name) ?? true else { return }
        let pipeline = channel.pipeline.syncOperations
        let fault = self.faults?.decide()
        if let rate = fault?.bytesPerSecond { try pipeline.addHandler(ReadThrottleHandler(bytesPerSecond: rate)) }
        let showsExpired = fault?.showsExpiredCertificate ?? false
        let tls = showsExpired ? self.faults?.expiredTLS ?? self.tls : self.tls
        try pipeline.addTLS(
            tls,
            checksCertificates: self.options.checksCertificates,
            deadline: self.options.watchesHandshake ? self.handshakeDeadline : nil
        )
        try initialize(channel, fault)
    }
}

/// Limits the rate at which a connection is read, below TLS, so that the peer's buffers fill.
private final class ReadThrottleHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let bytesPerSecond: Int
    private var next = NIODeadline.uptimeNanoseconds(0)
    private var isWaiting = false

    init(bytesPerSecond: Int) { self.bytesPerSecond = max(1, bytesPerSecond) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Int64(Self.unwrapInboundIn(data).readableBytes)
        let pause = TimeAmount.nanoseconds(bytes * 1_000_000_000 / Int64(self.bytesPerSecond))
        self.next = max(self.next, context.eventLoop.now) + pause
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard !self.isWaiting else { return }
        guard self.next > context.eventLoop.now else { return context.read() }
        self.isWaiting = true
        context.eventLoop.assumeIsolated().scheduleTask(deadline: self.next) {
            self.isWaiting = false
            context.read()
        }
    }
}
