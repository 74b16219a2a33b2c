package import Logging
import NIOCore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// An APNs-compatible push service, which accepts pushes over HTTP/2, stores them, and delivers them to connected
/// devices.
///
/// The initializer prepares the data directory. ``run()`` opens the listeners.
package final class Gateway: Service {
    private static let purgeInterval: Duration = .seconds(30)

    /// The authority's certificate, in PEM, that providers and devices have to trust.
    package let authorityPEM: String

    private let core: GatewayCore
    private let bound = OneShotValue<GatewayAddresses>()
    private var configuration: GatewayConfiguration { self.core.configuration }
    private var logger: Logger { self.core.shared.services.logger }

    /// Creates a gateway and the files that are missing in its data directory.
    /// - Throws: ``GatewayError``, also for a data directory that is in use or damaged.
    package init(configuration: GatewayConfiguration, time: any TimeSource, logger: Logger) throws {
        guard configuration.admin.isLoopback else { throw GatewayError.adminNotLoopback(configuration.admin.host) }
        self.core = try GatewayCore(configuration: configuration, time: time, logger: logger)
        self.authorityPEM = try self.core.authorities.gateway.pem
    }

    /// Waits until the listeners are open and returns their ports.
    /// - Throws: The error of ``run()`` if it failed before that.
    package func addresses() async throws -> GatewayAddresses { try await self.bound.value }

    /// Opens all listeners, serves until shutdown, and then drains the connections.
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
                guard let configured = self.configuration.listeners[core.environment] else { continue }
                let listeners = try EnvironmentListeners(core.environment, self.core)
                open.append(listeners)
                listeners.addGauges(to: self.core.gauges, core.environment)
                addresses.ports[core.environment] = try await listeners.bind(core, configured)
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

    /// Runs the admin API, and removes expired messages and old events at intervals, until shutdown or cancellation.
    private func runAdmin(onPort: @escaping @Sendable (Int) -> Void) async throws {
        let address = self.configuration.admin
        let admin = try self.core.adminServer()
            .application(listening: address, limits: self.configuration.limits, onPort: onPort)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.purgeRegularly() }
            group.addTask {
                // A client that does not read its response must not keep the gateway from ending.
                try? await gracefulShutdown()
                try await Task.sleep(for: self.configuration.limits.adminDrain)
                throw CancellationError()
            }
            group.addTask {
                do {
                    try await admin.run()
                } catch let error as IOError {
                    throw GatewayError.cannotListen("admin", address, error)
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
                    try await self.core.tick(now: self.core.shared.services.time.now)
                    try await Task.sleep(for: Self.purgeInterval)
                } catch is CancellationError {
                    return
                } catch {
                    self.logger.error("expired data could not be removed", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: Self.purgeInterval)
                }
            }
        }
    }

    private func announce(_ addresses: GatewayAddresses) {
        for (environment, ports) in addresses.ports.sorted(by: { $0.key.rawValue > $1.key.rawValue }) {
            let host = self.configuration.listeners[environment]?.http2.host ?? ""
            var metadata: Logger.Metadata = ["environment": "\(environment.rawValue)"]
            for (listener, port) in ports.named { metadata[listener] = "\(host):\(port)" }
            self.logger.info("listeners are open", metadata: metadata)
        }
        self.logger.info(
            "gateway is open",
            metadata: [
                "admin": "\(self.configuration.admin.host):\(addresses.admin)",
                "authority": "\(self.configuration.dataDirectory)/\(Authorities.gatewayName).pem",
            ]
        )
        self.core.openListeners.set(addresses)
        self.bound.resolve(.success(addresses))
    }

    private static func close(_ listeners: [EnvironmentListeners]) async {
        for listeners in listeners { await listeners.close() }
    }
}
