import Logging
import ServiceLifecycle
import UnixSignals

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Runs services until one ends, or SIGINT or SIGTERM asks for an orderly end.
enum ServiceRun {
    /// How long an orderly end may take before what is left is cancelled.
    static let longestShutdown: Duration = .seconds(15)
    /// The time that cancelled work has to end before the process exits without it.
    static let longestCancellation: Duration = .seconds(1)

    /// - Parameter services: each may use those before it; they end in reverse order.
    static func run(
        _ services: [any Service],
        endsWith: (any Service)? = nil,
        logger: Logger
    ) async throws {
        var all = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        if let endsWith {
            all.append(
                .init(service: endsWith, successTerminationBehavior: .gracefullyShutdownGroup)
            )
        }
        // The last one is the first that is asked to end.
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

/// Ends the process when an orderly end takes too long, for example because a push service does not answer what is in
/// flight. What has not ended by then is cut off as in a crash, with the consequences of one.
private struct ShutdownDeadline: Service {
    let logger: Logger

    func run() async throws {
        // Cancelled: something has failed, and the group ends.
        guard (try? await gracefulShutdown()) != nil else { return }
        Task.detached {
            try await Task.sleep(for: ServiceRun.longestShutdown + ServiceRun.longestCancellation)
            self.logger.warning("what has not ended in time is cut off")
            _exit(0)
        }
    }
}
