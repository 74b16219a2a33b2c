import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PushHTTP

/// The admin door: apps, provider keys, devices and what happened to them, over plain HTTP on the loopback address.
struct AdminServer {
    /// What is served below `/v1`, besides the authority.
    let parts: [any AdminRoutes]
    let gauges: GaugeRegistry
    let authorityPEM: String
    let logger: Logger
    private let unproven: UnauthenticatedConnections
    private let connections = AdminConnections()

    init(
        parts: [any AdminRoutes],
        gauges: GaugeRegistry,
        unproven: UnauthenticatedConnections,
        authorityPEM: String,
        logger: Logger
    ) {
        self.parts = parts
        self.unproven = unproven
        self.gauges = gauges
        self.authorityPEM = authorityPEM
        self.logger = logger
        gauges.add(.connections, ["listener": "admin"]) { [connections] in connections.count }
        gauges.add(.connectionsLimit, ["listener": "admin"]) { AdminConnections.maximum }
        gauges.add(.unauthenticatedConnections) { unproven.count }
        gauges.add(.unauthenticatedConnectionsLimit) { unproven.limits.connections }
        gauges.add(.unauthenticatedBytes) { unproven.bytes }
        gauges.add(.unauthenticatedBytesLimit) { unproven.limits.bytes }
    }

    private struct Health: Encodable {
        var status = "ok"
    }

    private struct Authority: Encodable {
        var certificate: String
    }

    func application(
        listening address: ListenAddress,
        limits: GatewayConfiguration.Limits,
        onPort: @escaping @Sendable (Int) async -> Void
    ) -> some ApplicationProtocol {
        let unproven = self.unproven
        return Application(
            router: self.router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [
                        RequestBodyHandler(deadline: TimeAmount(limits.request)),
                        RequestDeadlineHandler(deadline: TimeAmount(limits.request)),
                        // There is no login: a request that was in order is all the proof there can be.
                        UnauthenticatedRequestHandler(unproven, listener: "admin") { $1.status.kind == .successful },
                    ],
                    idleTimeout: TimeAmount(limits.adminIdle)
                )
            ),
            configuration: .init(
                address: .hostname(address.host, port: address.port),
                availableConnectionsDelegate: self.connections
            ),
            onServerRunning: { channel in await onPort(channel.localAddress?.port ?? address.port) },
            logger: Self.quiet(self.logger)
        )
    }

    private var router: Hummingbird.Router<AdminContext> {
        let router = Hummingbird.Router(context: AdminContext.self)
        router.add(middleware: ErrorMiddleware(logger: self.logger))
        router.add(middleware: AdminGuard())
        let (certificate, gauges) = (self.authorityPEM, self.gauges)
        router.get("health") { _, _ in try JSONResponse.make(.ok, Health()) }
        router.get("metrics") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: PrometheusText.contentType],
                body: .init(byteBuffer: ByteBuffer(string: try await gauges.text()))
            )
        }
        let v1 = router.group("v1")
        v1.get("authority") { _, _ in try JSONResponse.make(.ok, Authority(certificate: certificate)) }
        for part in self.parts { part.addRoutes(to: v1) }
        router.refuseOtherMethods()
        return router
    }

    /// The server's own start and stop messages would only repeat ours.
    private static func quiet(_ logger: Logger) -> Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }
}
