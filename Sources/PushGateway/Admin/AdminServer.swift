import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PushHTTP

/// The admin API: apps, provider keys, devices and their events, over plain HTTP on the loopback address.
struct AdminServer {
    /// The controllers of the paths below `/v1`.
    let parts: [any Controller<Never>]
    let gauges: GaugeRegistry
    let authorityPEM: String
    let logger: Logger
    private let unauthenticated: UnauthenticatedConnections
    private let connections = AdminConnections()

    init(
        parts: [any Controller<Never>],
        gauges: GaugeRegistry,
        unauthenticated: UnauthenticatedConnections,
        authorityPEM: String,
        logger: Logger
    ) {
        self.parts = parts
        self.unauthenticated = unauthenticated
        self.gauges = gauges
        self.authorityPEM = authorityPEM
        self.logger = logger
        gauges.add(
            "martlet_gateway_connections",
            "Open connections of a listener.",
            labels: ["listener": "admin"]
        ) { [connections] in connections.count }
        gauges.add(
            "martlet_gateway_connections_limit",
            "Most open connections of a listener.",
            labels: ["listener": "admin"]
        ) { AdminConnections.maximum }
        gauges.add(
            "martlet_gateway_unauthenticated_connections",
            "Open connections without a valid credential, over all listeners."
        ) { unauthenticated.count }
        gauges.add(
            "martlet_gateway_unauthenticated_connections_limit",
            "Most connections without a valid credential."
        ) { unauthenticated.limits.connections }
        gauges.add(
            "martlet_gateway_unauthenticated_bytes",
            "Bytes that unauthenticated connections hold together."
        ) { unauthenticated.bytes }
        gauges.add(
            "martlet_gateway_unauthenticated_bytes_limit",
            "Most bytes that unauthenticated connections may hold together."
        ) { unauthenticated.limits.bytes }
    }

    /// Returns the HTTP server.
    func application(
        listening address: ListenAddress,
        limits: GatewayConfiguration.Limits,
        onPort: @escaping @Sendable (Int) async -> Void
    ) -> some ApplicationProtocol {
        Application(
            router: Self.router(self.operations + self.parts.flatMap { $0.operations }, logger: self.logger),
            server: .http1(
                deadline: TimeAmount(limits.request),
                idle: TimeAmount(limits.adminIdle),
                unauthenticated: self.unauthenticated,
                listener: "admin",
                // There are no credentials: a successful request is all that a client can show.
                isAuthenticated: { $1.status.kind == .successful }
            ),
            configuration: .init(
                address: .hostname(address.host, port: address.port),
                availableConnectionsDelegate: self.connections
            ),
            onServerRunning: { channel in await onPort(channel.localAddress?.port ?? address.port) },
            logger: self.logger.forHTTPServer
        )
    }

    /// Returns a router that carries out operations for local clients, and ignores unknown query items.
    static func router(_ operations: [AdminOperation], logger: Logger) -> Hummingbird.Router<APIContext> {
        let router = Hummingbird.Router(context: APIContext.self)
        router.add(middleware: ErrorMiddleware(logger: logger))
        router.add(middleware: AdminGuard())
        router.add(operations) { operation, request, context in
            try await operation.respond(to: request, context, query: .lenient)
        }
        router.addMethodNotAllowedResponses()
        return router
    }

    private var operations: [AdminOperation] {
        let (certificate, gauges) = (self.authorityPEM, self.gauges)
        return [
            .init(.get, "/health", id: "health", "Reports that the process runs.") { _ in
                try .json(["status": "ok"])
            },
            .init(.get, "/metrics", id: "metrics", "Metrics for Prometheus.") { _ in
                .content(ByteBuffer(string: try await gauges.text()), PrometheusText.contentType)
            },
            .init(.get, "/v1/authority", id: "authority", "The gateway's certificate authority.") {
                _ in try .json(["certificate": certificate])
            },
        ]
    }
}
