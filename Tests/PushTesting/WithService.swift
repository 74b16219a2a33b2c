package import Logging
package import ServiceLifecycle

/// A logger that says nothing: tests read behaviour, not logs.
package var silentLogger: Logger {
    Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// Runs services while `body` runs, then shuts them down gracefully, the last first.
///
/// Throws what a service throws; never hangs when one ends early, because `body` is then cancelled.
package func withServices<Value: Sendable>(
    _ services: [any Service],
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let group = ServiceGroup(configuration: .init(services: services, logger: silentLogger))
    return try await withThrowingTaskGroup(of: Value?.self) { tasks in
        tasks.addTask {
            try await group.run()
            return nil
        }
        tasks.addTask { try await body() }
        defer { tasks.cancelAll() }
        guard let first = try await tasks.next() else { throw CancellationError() }
        guard let value = first else { throw ServiceEndedEarly() }
        await group.triggerGracefulShutdown()
        _ = try await tasks.next()
        return value
    }
}

/// A service ended while the test still needed it.
package struct ServiceEndedEarly: Error {}
