import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Runs services until one of them ends, or until SIGINT or SIGTERM asks for a graceful shutdown.
enum ServiceRunner {
    /// The longest time of a graceful shutdown; what is left then is cancelled.
    static let longestShutdown: Duration = .seconds(15)
    /// The time that cancelled work has before the process exits without it.
    static let longestCancellation: Duration = .seconds(1)

    /// Runs services until the process is asked to end.
    /// - Parameters:
    ///   - services: The services, each of which may use those before it. They are shut down in reverse order.
    ///   - last: A service whose end shuts down all others; `nil` for none.
    ///   - ready: Returns once the services serve requests, for the service manager; `nil` for a command that is none.
    static func run(
        _ services: [any Service],
        until last: (any Service)? = nil,
        ready: (@Sendable () async throws -> Void)? = nil,
        logger: Logger
    ) async throws {
        var all = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        if let ready, let manager = ServiceManager() {
            all.append(.init(service: ServiceManagerReport(manager: manager, ready: ready, logger: logger)))
        }
        if let last { all.append(.init(service: last, successTerminationBehavior: .gracefullyShutdownGroup)) }
        // The last service is the first to be shut down.
        all.append(.init(service: ShutdownDeadline(logger: logger)))
        var configuration = ServiceGroupConfiguration(
            services: all,
            gracefulShutdownSignals: [.sigint, .sigterm],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = Self.longestShutdown
        try await ServiceGroup(configuration: configuration).run()
    }
}

/// Ends the process when a graceful shutdown takes too long, for example because a push service does not respond to
/// what is in flight. Work that has not ended by then is cut off as in a crash, with the consequences of one.
private struct ShutdownDeadline: Service {
    let logger: Logger

    func run() async throws {
        // A cancelled wait means that a service has failed and the group ends.
        guard (try? await gracefulShutdown()) != nil else { return }
        Task.detached {
            try await Task.sleep(for: ServiceRunner.longestShutdown + ServiceRunner.longestCancellation)
            self.logger.warning("shutdown deadline exceeded; the process ends with work in flight")
            _exit(0)
        }
    }
}
