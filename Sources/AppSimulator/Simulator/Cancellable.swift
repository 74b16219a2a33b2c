import PushSupport

/// The bounded wait for work that may outlive it.
enum Cancellable {
    /// Returns the result of some work; `nil` if the task is cancelled or the time is over first. The work is cancelled then,
    /// without a wait for its end.
    static func value<Value: Sendable>(
        within limit: Duration? = nil,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let result = OneShotValue<Value?>()
        let task = Task.detached { result.resolve(.success(await work())) }
        let timer = Task.detached {
            guard let limit, (try? await Task.sleep(for: limit)) != nil else { return }
            result.resolve(.success(nil))
        }
        defer {
            timer.cancel()
            task.cancel()
        }
        return await withTaskCancellationHandler {
            (try? await result.value) ?? nil
        } onCancel: {
            result.resolve(.success(nil))
        }
    }

    /// Waits for some work, as long as the task is not cancelled and the time not over.
    static func run(within limit: Duration? = nil, _ work: @escaping @Sendable () async -> Void) async {
        _ = await Self.value(within: limit) { await work() }
    }
}
