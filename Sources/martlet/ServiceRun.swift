import Logging
import ServiceLifecycle
import UnixSignals

/// Runs services until one ends, or SIGINT or SIGTERM asks for an orderly end.
enum ServiceRun {
    /// How long an orderly end may take before what is left is cancelled.
    static let longestShutdown: Duration = .seconds(15)

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
        var configuration = ServiceGroupConfiguration(
            services: all,
            gracefulShutdownSignals: [.sigint, .sigterm],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = Self.longestShutdown
        try await ServiceGroup(configuration: configuration).run()
    }
}
