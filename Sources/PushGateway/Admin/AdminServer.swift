import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PushHTTP
import Synchronization

/// The server of the admin API, which manages apps, provider keys, devices and their events. It serves plain HTTP on
/// the loopback address.
struct AdminServer {
    let controllers: [any Controller<Never>]
    let gauges: GaugeRegistry
    let unauthenticated: UnauthenticatedConnectionBudget
    let connections: AdminConnections
    let authorityPEM: String
    let logger: Logger

    /// Creates the HTTP server, which calls `onPort` with its port once it is listening.
    func application(
        listening address: ListenAddress,
        limits: GatewayConfiguration.Limits,
        onPort: @escaping @Sendable (Int) async -> Void
    ) -> some ApplicationProtocol {
        Application(
            router: Self.router(self.operations + self.controllers.flatMap { $0.operations }, logger: self.logger),
            server: .bounded(
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

    /// Creates a router for the operations. It rejects requests from web pages and ignores unknown query items.
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
            .get("/health", "health", "Reports that the process runs.") { _ in try .json(["status": "ok"]) },
            .get("/metrics", "metrics", "Metrics for Prometheus.") { _ in
                .content(ByteBuffer(string: try await gauges.text()), PrometheusText.contentType)
            },
            .get("/v1/authority", "authority", "The gateway's certificate authority.") { _ in
                try .json(["certificate": certificate])
            },
        ]
    }
}

/// Counts and limits the connections of the admin listener. Connections beyond the limit wait until one is closed.
final class AdminConnections: AvailableConnectionsDelegate {
    /// The maximum number of open connections. Further ones wait until one is closed.
    static let maximum = 256

    private let open = Atomic<Int>(0)

    var count: Int { self.open.load(ordering: .relaxed) }

    func connectionOpened() { self.open.add(1, ordering: .relaxed) }
    func connectionClosed() { self.open.subtract(1, ordering: .relaxed) }
    func isAcceptingNewConnections() -> Bool { self.count < Self.maximum }
}
