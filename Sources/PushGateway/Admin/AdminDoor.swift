import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PushHTTP
import PushProtocol

/// The admin door: apps, provider keys, devices and what happened to them, over plain HTTP on the loopback address.
struct AdminDoor {
    /// More wait until one ends.
    private static let maximumConnections = 256

    let registry: AppsController
    let devices: DevicesController
    let authorityPEM: String
    let logger: Logger

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
        let router = Hummingbird.Router(context: AdminContext.self)
        router.add(middleware: RefusalMiddleware(logger: self.logger))
        router.add(middleware: AdminGuard())
        let certificate = self.authorityPEM
        router.get("health") { _, _ in try JSONAnswer.make(.ok, Health()) }
        let v1 = router.group("v1")
        v1.get("authority") { _, _ in try JSONAnswer.make(.ok, Authority(certificate: certificate)) }
        self.registry.addRoutes(to: v1)
        self.devices.addRoutes(to: v1)
        return Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [RequestDeadlineHandler(deadline: TimeAmount(limits.request))],
                    idleTimeout: TimeAmount(limits.adminIdle)
                )
            ),
            configuration: .init(
                address: .hostname(address.host, port: address.port),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.maximumConnections)
            ),
            onServerRunning: { channel in await onPort(channel.localAddress?.port ?? address.port) },
            logger: Self.quiet(self.logger)
        )
    }

    /// The server's own start and stop messages would only repeat ours.
    private static func quiet(_ logger: Logger) -> Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }
}
