import Logging
import NIOCore
import NIOSSL
import PushHTTP
import PushSupport

/// A TLS listener for legacy providers. It binds the port, limits and tracks connections, and closes them at shutdown.
final class LegacyTLSListener: Sendable {
    private let name: String
    private let configuration: BinaryBridgeConfiguration
    private let tls: NIOSSLContext
    private let rates: ConnectionRates
    private let unauthenticated: UnauthenticatedConnectionBudget
    private let allowsHalfClosure: Bool
    private let connections: ListenerConnections

    /// Creates a listener that is not bound yet.
    /// - Parameters:
    ///   - name: The name of the listener in logs and errors.
    ///   - rates: The limits on the rates at which clients may open connections. A connection above them is closed.
    ///   - allowsHalfClosure: Whether a client that has closed its write side can still receive an error packet.
    init(
        name: String,
        _ configuration: BinaryBridgeConfiguration,
        tls: TLSConfiguration,
        allowsHalfClosure: Bool,
        rates: ConnectionRates,
        unauthenticated: UnauthenticatedConnectionBudget,
        logger: Logger
    ) throws {
        (self.name, self.configuration) = (name, configuration)
        (self.allowsHalfClosure, self.rates, self.unauthenticated) = (allowsHalfClosure, rates, unauthenticated)
        self.connections = ListenerConnections(of: name, maximum: configuration.connections, logger: logger)
        self.tls = try NIOSSLContext(configuration: tls)
    }

    /// Binds the port and starts to accept connections.
    /// - Parameter initialize: Adds the handlers behind TLS to each connection's pipeline.
    /// - Returns: The bound port.
    /// - Throws: ``LegacyListenerError`` if the port cannot be bound.
    func bind(port: Int, initialize: @escaping @Sendable (any Channel) throws -> Void) async throws -> Int {
        let host = self.configuration.host
        do {
            let server = try await self.connections.bind(
                host: host,
                port: port,
                backlog: 256,
                allowsHalfClosure: self.allowsHalfClosure
            ) { try self.accept($0, initialize) }
            try await self.rates.limit(server)
            return server.localAddress?.port ?? port
        } catch {
            throw LegacyListenerError(listener: self.name, address: "\(host):\(port)", why: ErrorDescription.of(error))
        }
    }

    /// Stops listening, and returns once all connections have processed their notifications and are closed.
    func close() async { await self.connections.close(draining: true) }

    /// Adds TLS and the listener's own handlers to a new connection, or closes it if too many are open.
    private func accept(_ channel: any Channel, _ initialize: (any Channel) throws -> Void) throws {
        // Connections that have shown no known certificate have a separate limit and do not count here.
        guard self.connections.admit(channel, besides: self.unauthenticated.count) else { return }
        guard try self.unauthenticated.admit(channel, listener: self.name) else { return }
        // Without an authority, each bridge lists the certificates that it accepts.
        try channel.pipeline.syncOperations.addTLS(
            self.tls,
            checksCertificates: self.configuration.authority != nil,
            deadline: TimeAmount(self.configuration.handshake)
        )
        try initialize(channel)
    }
}

/// The error of a listener that cannot be bound.
package struct LegacyListenerError: Error, Hashable, CustomStringConvertible {
    let listener, address, why: String

    package var description: String { "the \(self.listener) listener cannot use \(self.address): \(self.why)" }
}
