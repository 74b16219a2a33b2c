public import Logging
import NIOPosix
package import PushSupport
public import PushTypes
public import ServiceLifecycle

/// A sender of pushes to one push service with one credential.
///
/// Connections are opened when there is something to send, and kept open. Every push has exactly one ``Outcome``, and
/// every wait has a timeout. A push that the service did not process is sent again on another connection.
///
/// All methods may be called from any task, even before ``run()``.
public final class Sender: NotificationSender, Service {
    private let pool: ConnectionPool

    /// Creates a sender, which connects when there is something to send.
    /// - Parameters:
    ///   - endpoint: The push service, for example ``PushServiceEndpoint/apple(_:port:)``.
    ///   - credential: A signing key or a certificate.
    ///   - configuration: The limits and timeouts.
    ///   - logger: The logger for opened and closed connections. Device tokens are never logged in full.
    /// - Throws: ``CredentialError`` for a certificate that has expired or belongs to the other environment, or an
    ///   error of swift-nio-ssl if the endpoint's additional trust roots are not PEM certificates.
    public convenience init(
        to endpoint: PushServiceEndpoint,
        credential: PushCredential,
        configuration: SenderConfiguration = SenderConfiguration(),
        logger: Logger
    ) throws {
        try self.init(
            to: endpoint,
            credential: credential,
            configuration: configuration,
            time: SystemTime(),
            logger: logger
        )
    }

    /// Creates a sender that reads the time from `time`.
    /// - Parameters:
    ///   - environment: The environment in the labels of metrics, or `nil` for the endpoint's environment.
    ///   - ports: The port selector that it shares with other senders, or `nil` to create one.
    ///   - observer: A function that receives failures and successes of connecting (``ConnectionObserver``), or `nil`
    ///     to report nothing.
    package init(
        to endpoint: PushServiceEndpoint,
        credential: PushCredential,
        configuration: SenderConfiguration,
        environment: PushEnvironment? = nil,
        time: any TimeSource,
        ports: PortSelector? = nil,
        observer: ConnectionObserver? = nil,
        logger: Logger
    ) throws {
        self.pool = try ConnectionPool(
            endpoint: endpoint,
            credential: credential,
            configuration: configuration,
            environment: environment,
            group: MultiThreadedEventLoopGroup.singleton,
            time: time,
            ports: ports,
            observer: observer,
            logger: logger
        )
    }

    deinit {
        let pool = self.pool
        Task { await pool.close() }
    }

    /// Sends one push and returns its outcome. If the calling task is cancelled, a push that is still waiting for a
    /// connection ends as ``Outcome/notSent(_:)``.
    public func send(_ push: Push) async -> Outcome {
        await self.send([push]).first ?? .notSent(.init("the push has no outcome"))
    }

    /// Sends pushes and returns their outcomes in the same order.
    ///
    /// Sending an array costs one hop to the event loop of each connection. The pushes wait in the array until a
    /// connection has a free stream, and the caller is suspended meanwhile, so that it cannot send faster than the
    /// service allows.
    public func send(_ pushes: [Push]) async -> [Outcome] { await self.follow(pushes).outcomes }

    /// Sends one broadcast and returns its outcome, in which ``Outcome/Accepted/id`` is the `apns-request-id` header.
    /// Broadcasts share the connections of pushes. A retry after ``Outcome/unknown(_:)`` may show the broadcast twice.
    public func broadcast(_ broadcast: Broadcast) async -> Outcome { await self.send(Push(broadcast)) }

    /// Sends pushes and returns their outcomes with their transmissions (``PushTrip``).
    package func follow(_ pushes: [Push]) async -> SentPushes { await self.follow(pushes, began: { _ in }) }

    package func follow(_ pushes: [Push], began: (any PushCall) -> Void) async -> SentPushes {
        guard !pushes.isEmpty else { return SentPushes(outcomes: []) }
        let batch = SendBatch(pushes, in: self.pool, metrics: self.pool.metrics)
        return await withTaskCancellationHandler {
            self.pool.send(batch)
            began(batch)
            // A cancellation before this point found nothing to take back.
            if Task.isCancelled { self.pool.cancel(batch) }
            return await batch.sent
        } onCancel: {
            self.pool.cancel(batch)
        }
    }

    /// Sends pushes and returns their outcomes as they arrive, each with the index of its push. If the iteration ends
    /// early, the pushes that are still waiting for a connection are not sent.
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
        continuation.onTermination = { if case .cancelled = $0 { pool.cancel(batch) } }
        pool.send(batch)
        Task {
            _ = await batch.sent
            // The sender must not close its pool while the stream is read.
            withExtendedLifetime(self) { continuation.finish() }
        }
        return stream
    }

    /// Replaces the credential, for example after a rotation or a revocation.
    ///
    /// Connections with the old credential take no more pushes and close after their last response.
    /// - Throws: The errors of the initializer, in which case the old credential stays in use.
    public func use(_ credential: PushCredential) throws { try self.pool.use(credential) }

    /// The current state of the sender's connections and queue.
    public var statistics: SenderStatistics { self.pool.statistics }

    /// Waits for graceful shutdown or cancellation, then closes the sender. Pushes can also be sent without this call.
    public func run() async throws {
        try? await gracefulShutdown()
        await self.close()
    }

    /// Closes the sender's connections after their outstanding responses have arrived.
    ///
    /// Pushes that wait for a connection end as ``Outcome/notSent(_:)``. Pushes without a response within
    /// ``SenderConfiguration/drainTimeout`` end as ``Outcome/unknown(_:)``.
    public func close() async { await self.pool.close() }
}
