import Foundation
import GRDB
package import Logging
import NIOCore
import NIOSSL
package import PushSupport
import PushTypes
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
    private let bound = OneShotValue<GatewayAddresses>()
    private let time: any TimeSource
    private let logger: Logger

    /// - Throws: ``GatewayError``, also for a data directory that is in use or damaged.
    package init(configuration: GatewayConfiguration, time: any TimeSource, logger: Logger) throws {
        guard configuration.admin.isLoopback else {
            throw GatewayError.adminNotLoopback(configuration.admin.host)
        }
        self.configuration = configuration
        self.core = try GatewayCore(configuration: configuration, time: time, logger: logger)
        self.authorityPEM = try self.core.authorities.gateway.pem
        self.time = time
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
        var open: [EnvironmentListeners] = []
        do {
            var addresses = GatewayAddresses()
            for core in self.core.environments {
                guard let doors = self.configuration.doors[core.environment] else { continue }
                let listeners = try EnvironmentListeners(
                    core.environment,
                    authorities: self.core.authorities,
                    configuration: self.configuration,
                    faults: self.core.faults,
                    unauthenticated: self.core.unproven,
                    time: self.time,
                    logger: self.logger
                )
                open.append(listeners)
                listeners.addGauges(to: self.core.gauges, core.environment)
                addresses.doors[core.environment] = try await listeners.bind(core, doors)
            }
            try await self.runAdmin { [addresses] port in
                var addresses = addresses
                addresses.admin = port
                self.announce(addresses)
            }
        } catch {
            await Self.close(open)
            throw error
        }
        await Self.close(open)
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
            group.addTask {
                // Somebody who does not read an answer must not keep the gateway from ending.
                try? await gracefulShutdown()
                try await Task.sleep(for: self.configuration.limits.adminFarewell)
                throw CancellationError()
            }
            group.addTask {
                do {
                    try await admin.run()
                } catch let error as IOError {
                    throw GatewayError.cannotListen(
                        door: "admin",
                        address: "\(address)",
                        why: ErrorDescription.of(error)
                    )
                }
                throw CancellationError()
            }
            defer { group.cancelAll() }
            do {
                for try await _ in group {}
            } catch is CancellationError {}
        }
    }

    private func purgeRegularly() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await self.core.tick(now: self.time.now)
                    try await Task.sleep(for: Self.purgeInterval)
                } catch is CancellationError {
                    return
                } catch {
                    self.logger.error("what has expired could not be removed", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: Self.purgeInterval)
                }
            }
        }
    }

    private func announce(_ addresses: GatewayAddresses) {
        for (environment, doors) in addresses.doors.sorted(by: { $0.key.rawValue > $1.key.rawValue }) {
            let host = self.configuration.doors[environment]?.http2.host ?? ""
            self.logger.info(
                "doors are open",
                metadata: [
                    "environment": "\(environment.rawValue)", "http2": "\(host):\(doors.http2)",
                    "courier": "\(host):\(doors.courier)", "binary": "\(host):\(doors.binary)",
                    "feedback": "\(host):\(doors.feedback)",
                ]
            )
        }
        self.logger.info(
            "gateway is open",
            metadata: [
                "admin": "\(self.configuration.admin.host):\(addresses.admin)",
                "authority": "\(self.configuration.dataDirectory)/\(Authorities.gatewayName).pem",
            ]
        )
        self.core.doors.set(addresses)
        self.bound.resolve(.success(addresses))
    }

    private static func close(_ listeners: [EnvironmentListeners]) async {
        for listeners in listeners { await listeners.close() }
    }
}
