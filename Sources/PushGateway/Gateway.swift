import Foundation
import GRDB
package import Logging
import NIOCore
import NIOSSL
package import PushProtocol
import ServiceLifecycle

/// An APNs-compatible push service: takes pushes over HTTP/2, keeps them, delivers them to connected devices.
///
/// Making one prepares the data directory; ``run()`` opens the doors.
package final class Gateway: Service {
    /// Between two removals of what has expired.
    private static let purgeInterval: Duration = .seconds(30)

    /// PEM: the certificate that a provider and a device have to trust.
    package let authorityPEM: String

    private let configuration: GatewayConfiguration
    private let core: GatewayCore
    private let bound = Bound<GatewayAddresses>()
    private let logger: Logger

    /// - Throws: ``GatewayError``, also for a data directory that is in use or damaged.
    package init(configuration: GatewayConfiguration, time: any TimeSource, logger: Logger) throws {
        guard configuration.admin.isLoopback else {
            throw GatewayError.adminNotLoopback(configuration.admin.host)
        }
        self.configuration = configuration
        self.core = try GatewayCore(configuration: configuration, time: time, logger: logger)
        self.authorityPEM = self.core.authorityPEM
        self.logger = logger
    }

    /// The ports that the doors are bound to. Waits until they are open.
    /// - Throws: what ended ``run()`` before that.
    package func addresses() async throws -> GatewayAddresses {
        try await self.bound.value
    }

    /// Opens all doors, serves until shutdown, drains.
    package func run() async throws {
        do {
            try await self.serve()
            self.bound.resolve(.failure(GatewayError.ended))
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
    }

    private func serve() async throws {
        let listeners = try self.core.listeners(self.configuration)
        do {
            let http2Port = try await listeners.http2.bind(
                self.configuration.http2,
                initialize: self.core.providerDoor.initialize
            )
            let courierPort = try await listeners.courier.bind(
                self.configuration.courier,
                initialize: self.core.courierDoor.initialize
            )
            try await self.runAdmin { adminPort in
                let addresses = GatewayAddresses(
                    http2Port: http2Port,
                    courierPort: courierPort,
                    adminPort: adminPort
                )
                self.announce(addresses)
            }
        } catch {
            await Self.close(listeners)
            throw error
        }
        await Self.close(listeners)
        try await self.core.close()
        self.logger.info("gateway has ended")
    }

    /// Ends on graceful shutdown or cancellation, like every part of a gateway.
    private func runAdmin(onPort: @escaping @Sendable (Int) -> Void) async throws {
        let address = self.configuration.admin
        let admin = self.core.adminDoor.application(
            listening: address,
            limits: self.configuration.limits,
            onPort: onPort
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.purgeRegularly() }
            defer { group.cancelAll() }
            do {
                try await admin.run()
            } catch let error as IOError {
                throw GatewayError.cannotListen(door: "admin", address: "\(address)", why: "\(error)")
            }
        }
    }

    private func purgeRegularly() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await self.core.router.purge()
                    try await Task.sleep(for: Self.purgeInterval)
                } catch is CancellationError {
                    return
                } catch {
                    self.logger.error("expired messages could not be removed", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: Self.purgeInterval)
                }
            }
        }
    }

    private func announce(_ addresses: GatewayAddresses) {
        self.logger.info(
            "gateway is open",
            metadata: [
                "http2": "\(self.configuration.http2.host):\(addresses.http2Port)",
                "courier": "\(self.configuration.courier.host):\(addresses.courierPort)",
                "admin": "\(self.configuration.admin.host):\(addresses.adminPort)",
                "environment": "\(self.configuration.environment.rawValue)",
                "authority": "\(self.configuration.dataDirectory)/\(GatewayCore.authorityName).pem",
            ]
        )
        self.bound.resolve(.success(addresses))
    }

    private static func close(_ listeners: GatewayCore.Listeners) async {
        await listeners.http2.close(draining: true)
        await listeners.courier.close(draining: false)
    }
}
