import UnixSignals

/// The signal to end, from Ctrl-C or a service manager, for a command that has something to say then.
enum TerminationSignal {
    /// Returns once the process is asked to end. Tests replace it.
    @TaskLocal static var wait: @Sendable () async -> Void = {
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
    }

    /// Does some work, and cancels it when the process is asked to end.
    static func cancelling<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                await Self.wait()
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let value = result { return value }
                group.cancelAll()
            }
            throw CancellationError()
        }
    }
}
