import Logging
import NIOCore
import PushSupport
import PushWire
import Synchronization

/// A client that sends requests other than pushes. It opens one connection at a time, when there is something to send.
actor ServiceClient {
    private final class Connection: Sendable {
        private let eventLoop: any EventLoop
        private let handler: NIOLoopBound<ServiceConnection>
        private let isRetired: RetirementFlag

        init(_ eventLoop: any EventLoop, _ handler: NIOLoopBound<ServiceConnection>, _ isRetired: RetirementFlag) {
            (self.eventLoop, self.handler, self.isRetired) = (eventLoop, handler, isRetired)
        }

        var takesRequests: Bool { !self.isRetired.isSet }

        /// Sends a request, and returns its result, or returns `nil` if the connection accepts no more requests.
        func perform(_ request: ServiceRequest) async -> ServiceResult? {
            await withCheckedContinuation { continuation in
                let handler = self.handler
                self.eventLoop.execute { handler.value.perform(request) { continuation.resume(returning: $0) } }
            }
        }

        func drain() {
            let handler = self.handler
            self.eventLoop.execute { handler.value.drain() }
        }
    }

    /// A flag that is set once a connection accepts no more requests.
    private final class RetirementFlag: Sendable {
        private let state = Atomic(false)

        var isSet: Bool { self.state.load(ordering: .acquiring) }

        func set() { self.state.store(true, ordering: .releasing) }
    }

    /// The maximum number of connections on which one request is attempted.
    private static let maximumTries = 3

    private let endpoint: PushServiceEndpoint
    private let identity: SenderIdentity
    private let configuration: SenderConfiguration
    private let maximumBody: Int
    private let group: any EventLoopGroup
    private let time: any TimeSource
    private let logger: Logger
    private var current: (number: Int, opening: Task<Connection, any Error>)?
    private var openings = 0
    private var isClosed = false

    /// Creates a client.
    /// - Parameter maximumBody: The maximum size of a response body, in bytes. A longer one is cut off.
    init(
        _ endpoint: PushServiceEndpoint,
        identity: SenderIdentity,
        configuration: SenderConfiguration,
        maximumBody: Int,
        group: any EventLoopGroup,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.endpoint, self.identity, self.configuration) = (endpoint, identity, configuration)
        (self.maximumBody, self.group, self.time, self.logger) = (maximumBody, group, time, logger)
    }

    deinit {
        guard let opening = self.current?.opening else { return }
        Task { try await opening.value.drain() }
    }

    /// Sends a request and returns its result, at the latest after the time limits of ``SenderConfiguration``.
    ///
    /// A request that the push service did not process is sent again on another connection within
    /// ``SenderConfiguration/waitTimeout``. A repeatable request is sent again once if its response is lost.
    /// - Parameter isRepeatable: Pass `true` if the request may be processed twice.
    func perform(_ request: ServiceRequest, isRepeatable: Bool) async -> ServiceResult {
        let end = ContinuousClock.now + self.configuration.waitTimeout
        var (tries, losses) = (0, 0)
        while true {
            tries += 1
            let result = await self.perform(request)
            guard tries < Self.maximumTries, ContinuousClock.now < end, !Task.isCancelled, !self.isClosed else {
                return result
            }
            switch result {
            case .response: return result
            case .notSent(_, let mayRetry): if !mayRetry { return result }
            case .unknown:
                losses += 1
                if !isRepeatable || losses > 1 { return result }
            }
        }
    }

    /// Closes the connection after the outstanding responses have arrived. Further requests are not sent.
    func close() async {
        self.isClosed = true
        let opening = self.current?.opening
        self.current = nil
        try? await opening?.value.drain()
    }

    private func perform(_ request: ServiceRequest) async -> ServiceResult {
        guard !self.isClosed else { return .notSent(.init("the client is closed"), mayRetry: false) }
        do {
            // The connection may have been closed since it was returned, which is not this request's fault.
            for _ in 0..<Self.maximumTries where !self.isClosed {
                if let result = try await self.connection().perform(request) { return result }
            }
            return .notSent(.init("the push service closes each connection at once"), mayRetry: false)
        } catch {
            let failure = ConnectionError(error)
            let fault = ConnectionFault(failure.cause, at: self.endpoint, through: self.configuration.proxy)
            return .notSent(.init(failure.description, fault: fault), mayRetry: false)
        }
    }

    /// Returns the current connection if it accepts requests, or else opens one. If it cannot be opened, all callers
    /// that wait for it receive its error, so that none waits for another attempt.
    private func connection() async throws -> Connection {
        while let (number, opening) = self.current {
            let connection = try await self.opened(opening, number)
            if connection.takesRequests { return connection }
            self.forget(number)
        }
        self.openings += 1
        let (number, opening) = (self.openings, self.opening())
        self.current = (number, opening)
        return try await self.opened(opening, number)
    }

    private func opened(_ opening: Task<Connection, any Error>, _ number: Int) async throws -> Connection {
        do {
            return try await opening.value
        } catch {
            self.forget(number)
            throw error
        }
    }

    private func forget(_ number: Int) { if self.current?.number == number { self.current = nil } }

    private func opening() -> Task<Connection, any Error> {
        let (endpoint, identity, configuration) = (self.endpoint, self.identity, self.configuration)
        let (eventLoop, time, logger) = (self.group.next(), self.time, self.logger)
        var limits = configuration.limits
        limits.maximumResponseBody = self.maximumBody
        let connector = Connector(endpoint: endpoint, proxy: configuration.proxy, tls: identity.tls)
        return Task { [limits] in
            let isRetired = RetirementFlag()
            return try await eventLoop.flatSubmit {
                let handler = ServiceConnection(
                    authority: endpoint.authority,
                    limits: limits,
                    token: identity.token,
                    time: time,
                    logger: logger,
                    retired: { isRetired.set() }
                )
                let bound = NIOLoopBound(handler, eventLoop: eventLoop)
                return connector.connect(handler, on: eventLoop).map { _ in Connection(eventLoop, bound, isRetired) }
            }
            .get()
        }
    }
}
