package import PushTypes
public import ServiceLifecycle

/// Sends pushes to one push service with one credential.
///
/// Connections are opened when there is something to send, and kept. Every push has exactly one ``Outcome``; nothing
/// waits without a time limit. A push that the service certainly did not take goes to another connection by itself.
public final class Sender: NotificationSender, Service {
    private let pool: ConnectionPool

    init(pool: ConnectionPool) {
        self.pool = pool
    }

    deinit {
        let pool = self.pool
        Task { await pool.close() }
    }

    /// Sends one push and returns what became of it.
    ///
    /// When the calling task is cancelled, a push that no connection has taken yet ends as not sent.
    public func send(_ push: Push) async -> Outcome {
        await self.send([push]).first ?? .notSent(.init("the push got lost"))
    }

    /// Sends many pushes, which may share a payload, and returns their outcomes in the same order.
    ///
    /// The whole array costs one hop to each connection; pushes wait here, not in memory of the sender's, until a
    /// connection has a free stream.
    public func send(_ pushes: [Push]) async -> [Outcome] {
        guard !pushes.isEmpty else { return [] }
        let batch = SendBatch(pushes, metrics: self.pool.metrics)
        return await withTaskCancellationHandler {
            self.pool.send(batch)
            // A task that was cancelled before found nothing to take back.
            if Task.isCancelled { self.pool.cancel(batch) }
            return await batch.outcomes
        } onCancel: {
            self.pool.cancel(batch)
        }
    }

    /// Sends many pushes and gives their outcomes as they come, with the position of their push.
    ///
    /// Ending the iteration early takes back what no connection has taken yet.
    public func results(of pushes: [Push]) -> AsyncStream<SendResult> {
        let (stream, continuation) = AsyncStream.makeStream(of: SendResult.self)
        guard !pushes.isEmpty else {
            continuation.finish()
            return stream
        }
        let batch = SendBatch(pushes, metrics: self.pool.metrics) { results in
            for result in results { continuation.yield(result) }
        }
        let pool = self.pool
        continuation.onTermination = { _ in pool.cancel(batch) }
        pool.send(batch)
        Task {
            _ = await batch.outcomes
            continuation.finish()
        }
        return stream
    }

    package func send(_ notification: PushNotification, to token: DeviceToken) async -> Outcome {
        await self.send(Push(notification, to: token))
    }

    /// Uses another credential from now on, for example when it was rotated or revoked.
    ///
    /// Connections with the old one take no more pushes and close when their replies are there.
    /// - Throws: as the initialiser.
    public func use(_ credential: PushCredential) throws {
        try self.pool.use(credential)
    }

    /// What the sender is doing at this moment.
    public var figures: SenderStatistics { self.pool.figures }

    /// Runs until graceful shutdown or cancellation, then closes. Sending works without it too.
    public func run() async throws {
        try? await gracefulShutdown()
        await self.close()
    }

    /// Takes nothing new, lets the replies in flight arrive, closes the connections.
    ///
    /// What no connection has taken ends as not sent, and what has no reply in time as unknown.
    public func close() async {
        await self.pool.close()
    }
}

/// A look at a ``Sender``.
public struct SenderStatistics: Hashable, Sendable {
    /// Connections that can take pushes.
    public var connections: Int
    /// Pushes that wait for a connection.
    public var waiting: Int
    /// Why a connection last failed, for people.
    public var lastFailure: String?
}
