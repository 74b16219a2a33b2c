import Logging
import NIOCore
import PushSupport

/// The link of one component to its server. It connects, replies to requests, and connects again after each end.
struct ComponentLink: Sendable {
    /// The delays between attempts to connect.
    static let backoff = Backoff(base: .seconds(1), maximum: .seconds(60))
    /// The time that a connection must last for the delays to begin anew with the shortest one.
    private static let lasting = Duration.seconds(10)
    /// The maximum number of requests that are processed at the same time. Further ones wait.
    private static let width = 32

    let connector: ComponentConnector
    let answer: @Sendable (ComponentRequest, ConfiguredComponent) async -> StanzaResponse
    let metrics: ComponentMetrics
    let logger: Logger

    /// Runs the link until `stop` is resolved and the requests in flight have replies, or until the task is cancelled.
    func run(until stop: OneShotValue<Void>) async {
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled {
            let start = ContinuousClock.now
            var isEstablished = false
            do {
                try await self.connect(attempt: failures, until: stop) { isEstablished = true }
                return
            } catch {
                self.report(error, isEstablished)
            }
            failures = isEstablished && ContinuousClock.now - start > Self.lasting ? 1 : failures + 1
            let delay = Self.backoff.delay(afterFailures: failures, using: &generator)
            guard await self.wait(delay, orUntil: stop) else { return }
        }
    }

    private func report(_ error: any Error, _ wasEstablished: Bool) {
        guard !Task.isCancelled else { return }
        if !wasEstablished { self.metrics.countConnection(.failed) }
        let reason = (error as? ComponentFailure)?.description ?? ErrorDescription.of(error)
        self.logger.warning("no link to the XMPP server, trying again", metadata: ["error": "\(reason)"])
    }

    /// Sleeps for a delay. Returns `false` if `stop` is resolved or the task is cancelled before its end.
    private func wait(_ delay: Duration, orUntil stop: OneShotValue<Void>) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { (try? await Task.sleep(for: delay)) != nil }
            group.addTask {
                _ = try? await stop.valueUnlessCancelled()
                return false
            }
            let isOver = await group.next() ?? false
            group.cancelAll()
            return isOver
        }
    }

    /// Opens a connection, unless `stop` is resolved or the task is cancelled first. A connection established
    /// afterwards is closed.
    /// - Returns: The connection, or `nil` if `stop` was resolved or the task was cancelled.
    private func open(attempt: Int, until stop: OneShotValue<Void>) async throws -> ComponentConnector.Channel? {
        let opened = OneShotValue<ComponentConnector.Channel?>()
        let connecting = Task {
            do {
                let channel = try await self.connector.connect(attempt: attempt)
                if !opened.resolve(.success(channel)) { try await channel.executeThenClose { _, _ in } }
            } catch {
                opened.resolve(.failure(error))
            }
        }
        let stopping = Task {
            _ = try? await stop.valueUnlessCancelled()
            if opened.resolve(.success(nil)) { connecting.cancel() }
        }
        defer { stopping.cancel() }
        return try await withTaskCancellationHandler {
            try await opened.value
        } onCancel: {
            stopping.cancel()
        }
    }

    /// Connects, and replies to requests until `stop` is resolved. Calls `established` once the component is accepted.
    /// - Throws: The reason why the link ended without `stop`.
    private func connect(attempt: Int, until stop: OneShotValue<Void>, established: () -> Void) async throws {
        guard let channel = try await self.open(attempt: attempt, until: stop) else { return }
        try await withTaskCancellationHandler {
            try await channel.executeThenClose { inbound, outbound in
                try await self.work(channel.channel, inbound, outbound, stop, established)
            }
        } onCancel: {
            channel.channel.close(promise: nil)
        }
    }

    /// Replies to requests until the link ends. Throws an error unless the component itself has left the server.
    private func work(
        _ channel: any Channel,
        _ inbound: NIOAsyncChannelInboundStream<ComponentEvent>,
        _ outbound: NIOAsyncChannelOutboundWriter<ComponentResponse>,
        _ stop: OneShotValue<Void>,
        _ established: () -> Void
    ) async throws {
        async let _ = Self.leave(channel, on: stop)
        var hasLeft = false
        try await withThrowingTaskGroup(of: Void.self) { group in
            var working = 0
            for try await event in inbound {
                switch event {
                case .established:
                    established()
                    self.metrics.countConnection(.established)
                    self.logger.info("linked to the XMPP server")
                case .left: hasLeft = true
                case .request(let request):
                    if working == Self.width {
                        try await group.next()
                        working -= 1
                    }
                    group.addTask {
                        let answer = await self.answer(request, self.connector.bridge)
                        try await outbound.write(ComponentResponse(stanza: request.stanza, answer: answer))
                    }
                    working += 1
                }
            }
            try await group.waitForAll()
        }
        if !hasLeft { throw ComponentFailure.ended }
    }

    private static func leave(_ channel: any Channel, on stop: OneShotValue<Void>) async {
        guard (try? await stop.valueUnlessCancelled()) != nil else { return }
        try? await channel.triggerUserOutboundEvent(ComponentShutdown()).get()
    }
}
